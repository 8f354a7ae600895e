// SPDX-License-Identifier: GPL-3.0-or-later
// Injected failures of the local driver, read from ROOT/faults at each call, so tests and admins can make a cloud
// misbehave while it runs. Lines "NODE FAULT [VALUE] [COUNT]", '#' comments; NODE is a name or *; the first line that
// fits is used. With COUNT the line is used that often: the driver rewrites the file with one less, and drops it at 0.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cloud/driver.h"
#include "src/core/units.h"

namespace squall::cloud {

enum class FaultKind {
    no_capacity,
    quota,
    throttled,
    auth,
    transient,
    permanent,    // launch fails with this class
    lost_answer,  // launch works, but its answer does not arrive
    never_boots,  // the instance runs, slurmd never starts
    slow_boot,    // VALUE: this many seconds longer
    dies_after,   // VALUE: so many seconds after its start slurmd and its jobs die
    list_fails,   // list() answers with half of the instances and an error (NODE must be *)
    terminate_fails,
};

class LocalFaults {
  public:
    explicit LocalFaults(std::string path) : path_(std::move(path)) {}

    // The VALUE (0 without one) of the fault if it is to happen to `node` now; counts it. A missing file: none.
    std::optional<Seconds> take(const std::string& node, FaultKind kind);
    // "PATH:LINE: what is wrong" for the first bad line, or "".
    std::string check();

  private:
    struct Line {
        std::string text, node;
        std::optional<FaultKind> kind;  // none: comment or blank
        Seconds value = 0;
        long left = -1;  // -1 = always
        std::string error;
    };
    static Line parse(const std::string& text);
    std::vector<Line> read() const;
    void write(const std::vector<Line>& lines) const;
    std::string path_;
};

}  // namespace squall::cloud
