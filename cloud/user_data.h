// SPDX-License-Identifier: GPL-3.0-or-later
// What a new instance is told at its first boot: the site's template (Driver.UserDataFile, see
// conf/cloud-init.template) with @NODE@, @CLUSTER@, @GENERATION@ and each @KEY@ of Driver.Var.KEY= put in. Values may
// only hold characters that mean nothing to a shell or to YAML, so a name can never become a command. No secret belongs
// in there: whoever may describe an instance can read it.
#pragma once
#include <string>

#include "cloud/driver.h"

namespace squall::cloud {

struct UserData {
    std::string text, error;
};

UserData make_user_data(const LaunchSpec& spec, const std::string& cluster);

// "" or why this cannot be a host name: letters, digits, '-' and '.', 63 at most.
std::string refuse_host_name(const std::string& name);

}  // namespace squall::cloud
