// SPDX-License-Identifier: GPL-3.0-or-later
// las: least attained service, as Tiresias does it without knowing run times. Jobs move down through queues as their
// GPU time grows; a job of a higher queue takes the GPUs of checkpointable jobs of lower ones; first come, first served
// within a queue; jobs as asked.
#include <algorithm>
#include <array>

#include "src/sim/policies/choose.h"
#include "src/sim/policy.h"

namespace squall::sim {
namespace {

constexpr std::array<double, 3> kQueues = {3600.0, 8 * 3600.0, 64 * 3600.0};  // GPU-seconds that end a queue

class Las : public Policy {
  public:
    explicit Las(Seconds quantum_s) : quantum_s_(quantum_s) {}

    void decide(Control& control) override {
        auto order = control.waiting();
        auto rank = [&](int j) { return std::pair(queue_of(control.used_gpu_s(j)), control.job(j).release); };
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank(a) < rank(b); });
        std::array<bool, kQueues.size() + 1> stuck{};
        for (int j : order) {
            int queue = queue_of(control.used_gpu_s(j));
            if (start(control, j) || stuck[queue]) continue;
            stuck[queue] = !take_from_lower(control, j, queue);
        }
        if (!control.waiting().empty()) control.wake_at(control.now() + quantum_s_);
    }

  private:
    static int queue_of(double gpu_s) {
        return static_cast<int>(std::upper_bound(kQueues.begin(), kQueues.end(), gpu_s) - kQueues.begin());
    }

    static bool start(Control& control, int j) {
        for (bool rented : {false, true})
            for (int c : asked_configs(control, j, rented))
                if (control.try_start(j, c)) return true;
        return false;
    }

    // Stops jobs of lower queues, the lowest and latest first, until this one fits; if it never does they go on.
    static bool take_from_lower(Control& control, int j, int queue) {
        std::vector<int> lower;
        for (int r : control.running())
            if (control.job(r).checkpointable && queue_of(control.used_gpu_s(r)) > queue) lower.push_back(r);
        std::sort(lower.begin(), lower.end(), [&](int a, int b) {
            auto x = std::pair(queue_of(control.used_gpu_s(a)), control.job(a).release);
            auto y = std::pair(queue_of(control.used_gpu_s(b)), control.job(b).release);
            return x != y ? x > y : a > b;
        });
        std::vector<int> stopped;
        bool started = false;
        for (int r : lower) {
            control.stop(r);
            stopped.push_back(r);
            if ((started = start(control, j))) break;
        }
        // Those that need not have been stopped go on where they were.
        for (int r : stopped) {
            const auto& s = control.state(r);
            if (control.floor().fits(control.job(r).configs[s.last_config], s.last_place))
                control.start(r, s.last_config, s.last_place);
        }
        return started;
    }

    Seconds quantum_s_;
};

}  // namespace

std::unique_ptr<Policy> make_las(const PolicyOptions& options) { return std::make_unique<Las>(options.quantum_s); }

}  // namespace squall::sim
