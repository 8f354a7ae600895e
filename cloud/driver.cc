// SPDX-License-Identifier: GPL-3.0-or-later
// Names of the driver contract's enums: see driver.h.
#include "cloud/driver.h"

namespace squall::cloud {

const char* to_string(ErrorClass error) {
    switch (error) {
        case ErrorClass::none:
            return "none";
        case ErrorClass::no_capacity:
            return "no_capacity";
        case ErrorClass::quota:
            return "quota";
        case ErrorClass::throttled:
            return "throttled";
        case ErrorClass::auth:
            return "auth";
        case ErrorClass::transient:
            return "transient";
        case ErrorClass::permanent:
            break;
    }
    return "permanent";
}

const char* to_string(InstanceState state) {
    switch (state) {
        case InstanceState::pending:
            return "pending";
        case InstanceState::running:
            return "running";
        case InstanceState::stopping:
            return "stopping";
        case InstanceState::failed:
            return "failed";
        case InstanceState::gone:
            break;
    }
    return "gone";
}

}  // namespace squall::cloud
