// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <queue>

#include "src/sim/dice.h"

namespace squall::sim {

enum class Kind : char { job_end, node_fails, launch_fails, repaired, lease_ends };

struct Event {
    Seconds at;
    Kind kind;
    int index;
    int generation;
    bool operator>(const Event& o) const {
        return at != o.at ? at > o.at : kind != o.kind ? kind > o.kind : index > o.index;
    }
};

constexpr int kIdleWakes = 10000;  // decisions without any event between them after which a policy has given up
constexpr std::size_t kMostPoints = 4000, kNamedJobs = 20;

class Engine {
  public:
    Engine(const Workload& workload, const Snapshot& cluster, Policy& policy, const EngineOptions& options)
        : workload_(workload),
          policy_(policy),
          options_(options),
          control_(workload, cluster),
          dice_(options.faults.seed) {}

    Result run() {
        refuse_unplaceable();
        result_.jobs = static_cast<int>(workload_.jobs.size());
        result_.start = control_.now_;
        look_at_nodes();
        while (step()) {
        }
        finish();
        return std::move(result_);
    }

  private:
    const Floor& floor() const { return control_.floor_; }
    const NodeClass& class_of(int node) const {
        return control_.cluster().classes[control_.cluster().nodes[node].class_id];
    }

    void give_up(int j, const std::string& why) {
        control_.set_phase(j, Phase::unplaceable);
        ++result_.unplaceable;
        if (result_.unplaceable_jobs.size() < kNamedJobs)
            result_.unplaceable_jobs.push_back(
                fmt::format("job {} (line {}): {}", control_.job(j).id, workload_.jobs[j].line, why));
    }

    void refuse_unplaceable() {
        for (int j = 0; j < static_cast<int>(workload_.jobs.size()); ++j) {
            const auto& configs = control_.job(j).configs;
            bool fits = false;
            for (int c = 0; c < static_cast<int>(configs.size()) && !fits; ++c)
                fits = floor().ever_fits(configs[c]) && control_.may_use(j, c);
            if (fits) continue;
            std::string asks = configs.empty() ? "no GPUs of this cluster suit it"
                                               : fmt::format("asks for {} nodes with {} GPUs each, which are not here",
                                                             configs[0].nodes, configs[0].gpus);
            give_up(j, asks);
        }
    }

    void look_at_nodes() {
        for (const auto& node : control_.cluster().nodes)
            if (const auto& c = control_.cluster().classes[node.class_id]; !c.rented) local_gpus_ += c.gpus;
        if (options_.faults.node_mtbf_h <= 0) return;
        for (int n = 0; n < static_cast<int>(control_.cluster().nodes.size()); ++n)
            if (!class_of(n).rented) push_failure(n);
    }
    void push_failure(int n) {
        double wait = dice_.exponential(options_.faults.node_mtbf_h * 3600);
        events_.push({control_.now_ + 1 + static_cast<Seconds>(wait), Kind::node_fails, n, -1});
    }

    // One moment: everything that happens at it, then one decision.
    bool step() {
        bool coming = next_ < workload_.jobs.size();
        bool open = coming || !control_.running_.empty() || !control_.waiting_.empty();
        if (!open) return false;
        if (events_.empty() && !coming && control_.wake_ >= kForever) return false;
        Seconds at = coming ? workload_.jobs[next_].job.release : INT64_MAX;
        if (!events_.empty()) at = std::min(at, events_.top().at);
        at = std::min(at, control_.wake_);
        control_.now_ = std::max(control_.now_, at);
        bool woken = control_.wake_ <= control_.now_, happened = false;
        while (!events_.empty() && events_.top().at <= control_.now_) {
            Event event = events_.top();
            events_.pop();
            happened |= handle(event);
        }
        for (; next_ < workload_.jobs.size() && workload_.jobs[next_].job.release <= control_.now_; ++next_) {
            if (control_.states_[next_].phase != Phase::coming) continue;
            control_.set_phase(static_cast<int>(next_), Phase::waiting);
            happened = true;
        }
        if (happened || woken) decide();
        idle_wakes_ = !happened && control_.running_.empty() && control_.started_.empty() ? idle_wakes_ + 1 : 0;
        return idle_wakes_ < kIdleWakes;
    }

    bool handle(const Event& e) {
        switch (e.kind) {
            case Kind::job_end:
                return control_.states_[e.index].generation == e.generation && end_job(e.index);
            case Kind::node_fails:
                return fail_node(e);
            case Kind::launch_fails:
                return fail_launch(e);
            case Kind::repaired:
                if (!floor().node(e.index).broken || floor().node(e.index).generation != e.generation) return false;
                control_.floor_.repair(e.index, control_.now_);
                return true;
            case Kind::lease_ends: {
                const auto& node = floor().node(e.index);
                if (!node.up || node.jobs > 0 || node.generation != e.generation) return false;
                if (control_.now_ < node.idle_since + class_of(e.index).release_s) return false;
                control_.floor_.end_lease(e.index, control_.now_);
                return true;
            }
        }
        return false;
    }

    bool end_job(int j) {
        auto& s = control_.states_[j];
        book_run(j);
        control_.end_run(j);
        control_.set_phase(j, Phase::done);
        s.left = 0;
        s.end = control_.now_;
        const auto& job = control_.job(j);
        ++result_.done;
        completion_s_ += static_cast<double>(s.end - job.release);
        if (job.due) {
            ++result_.with_due;
            result_.on_time += s.end <= *job.due;
            Seconds late = std::max<Seconds>(0, s.end - *job.due);
            result_.late_s += static_cast<double>(late);
            result_.lateness_cost += cost_of_time(job.late_micro_h, late);
            result_.lateness_s.push_back(s.end - *job.due);
        }
        if (options_.progress) options_.progress(result_.done, result_.jobs);
        return true;
    }

    void book_run(int j) {
        const auto& s = control_.states_[j];
        book(j, s.config, s.place, s.start);
    }

    // GPU time and segment of a run that ends now.
    void book(int j, int config, const Place& place, Seconds start) {
        const auto& c = control_.job(j).configs[config];
        double gpu_h = control_.gpus_of(c) * static_cast<double>(control_.now_ - start) / 3600;
        result_.gpu_h += gpu_h;
        if (control_.cluster().classes[c.class_id].rented) result_.cloud_gpu_h += gpu_h;
        if (options_.keep_segments && control_.now_ > start)
            result_.segments.push_back({j, config, place.nodes.front(), start, control_.now_});
    }

    // Every job on a node that is lost waits again; without checkpoints from its beginning.
    void stop_jobs_on(int n) {
        auto running = control_.running_;
        for (int j : running) {
            const auto& nodes = control_.states_[j].place.nodes;
            if (!std::binary_search(nodes.begin(), nodes.end(), n)) continue;
            book_run(j);
            control_.stop(j);
            control_.states_[j].stopped_at = -1;
            ++result_.killed_by_faults;
        }
    }

    bool fail_node(const Event& e) {
        bool spot = class_of(e.index).rented;
        if (spot && (floor().node(e.index).generation != e.generation || !floor().node(e.index).up)) return false;
        stop_jobs_on(e.index);
        if (spot) {
            control_.floor_.end_lease(e.index, control_.now_);
            return true;
        }
        control_.floor_.break_node(e.index, control_.now_);
        Seconds back = control_.now_ + options_.faults.repair_s;
        events_.push({back, Kind::repaired, e.index, floor().node(e.index).generation});
        double wait = dice_.exponential(options_.faults.node_mtbf_h * 3600);
        events_.push({back + 1 + static_cast<Seconds>(wait), Kind::node_fails, e.index, -1});
        return true;
    }

    // The offer has run dry: this launch and every other node of the class are out for a while.
    bool fail_launch(const Event& e) {
        if (floor().node(e.index).generation != e.generation || !floor().node(e.index).up) return false;
        stop_jobs_on(e.index);
        int dry = control_.cluster().nodes[e.index].class_id;
        for (int n = 0; n < static_cast<int>(control_.cluster().nodes.size()); ++n) {
            const auto& node = floor().node(n);
            if (control_.cluster().nodes[n].class_id != dry || node.broken || (node.up && n != e.index)) continue;
            control_.floor_.break_node(n, control_.now_);
            events_.push({control_.now_ + options_.faults.dry_s, Kind::repaired, n, floor().node(n).generation});
        }
        return true;
    }

    void decide() {
        control_.started_.clear();
        control_.stopped_.clear();
        control_.wake_ = kForever;
        auto clock = std::chrono::steady_clock::now();
        policy_.decide(control_);
        result_.decision_s.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - clock).count());
        book_stopped();
        for (int j : control_.started_) follow(j);
        release_nodes();
        note_time();
    }

    // Runs that the policy ended; taken up again as they were, nothing is booked.
    void book_stopped() {
        auto& stopped = control_.stopped_;
        std::sort(stopped.begin(), stopped.end());
        stopped.erase(std::unique(stopped.begin(), stopped.end()), stopped.end());
        for (int j : stopped) {
            const auto& s = control_.states_[j];
            bool same = s.phase == Phase::running && s.start == s.last_start && s.config == s.last_config &&
                        s.place.nodes == s.last_place.nodes;
            if (!same) book(j, s.last_config, s.last_place, s.last_start);
        }
    }

    void follow(int j) {
        const auto& s = control_.states_[j];
        if (s.phase != Phase::running) return;
        double work = s.left - (1 - workload_.jobs[j].ends_after);
        auto run =
            static_cast<Seconds>(std::ceil(work * static_cast<double>(workload_.jobs[j].true_run_s[s.config]) - 1e-6));
        Seconds end = std::max(control_.now_ + 1, s.computes_from + std::max<Seconds>(1, run));
        events_.push({end, Kind::job_end, j, s.generation});
        for (int n : s.place.nodes) follow_lease(n);
    }

    void follow_lease(int n) {
        const auto& c = class_of(n);
        const auto& node = floor().node(n);
        if (!c.rented || node.leased_at != control_.now_ || node.jobs != 1) return;
        if (options_.faults.launch_failures > 0 && dice_.unit() < options_.faults.launch_failures) {
            events_.push({std::max(control_.now_ + 1, node.ready_at), Kind::launch_fails, n, node.generation});
        } else if (c.interruptions_ppm_h > 0) {
            double wait = dice_.exponential(3600e6 / c.interruptions_ppm_h);
            events_.push({node.ready_at + 1 + static_cast<Seconds>(wait), Kind::node_fails, n, node.generation});
        }
    }

    void release_nodes() {
        control_.floor_.end_idle_leases(control_.now_);
        for (int n : floor().emptied()) {
            const auto& node = floor().node(n);
            if (node.up && node.jobs == 0)
                events_.push({node.idle_since + class_of(n).release_s, Kind::lease_ends, n, node.generation});
        }
        control_.floor_.clear_emptied();
    }

    void note_time() {
        if (++moments_ % stride_ != 0) return;
        TimePoint point;
        point.at = control_.now_;
        point.local_gpus = local_gpus_;
        for (int c = 0; c < static_cast<int>(control_.cluster().classes.size()); ++c) {
            const auto& spec = control_.cluster().classes[c];
            double& busy = spec.rented ? point.rented_gpus : point.local_gpus;
            busy += (spec.rented ? floor().leased(c) * spec.gpus : 0) - floor().free_gpus(c);
        }
        point.waiting = static_cast<int>(control_.waiting_.size());
        point.rent = floor().rent();
        result_.timeline.push_back(point);
        if (result_.timeline.size() < kMostPoints) return;
        for (std::size_t i = 0; 2 * i < result_.timeline.size(); ++i) result_.timeline[i] = result_.timeline[2 * i];
        result_.timeline.resize(kMostPoints / 2);
        stride_ *= 2;
    }
    void finish() {
        auto waiting = control_.waiting_;
        for (int j : waiting) give_up(j, "this policy never finds it a place");
        control_.floor_.settle(control_.now_);
        result_.end = control_.now_;
        result_.moves = control_.moves_;
        result_.restart_cost = control_.restart_micro_;
        // What was paid while jobs started again is a cost of its own, taken out of rent, then energy.
        Micro from_rent = std::min(result_.restart_cost, floor().rent());
        result_.rent = floor().rent() - from_rent;
        result_.energy = std::max<Micro>(0, floor().energy() - (result_.restart_cost - from_rent));
        if (result_.done > 0) result_.mean_completion_h = completion_s_ / result_.done / 3600;
    }

    const Workload& workload_;
    Policy& policy_;
    const EngineOptions& options_;
    Control control_;
    Dice dice_;
    Result result_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::size_t next_ = 0;
    long moments_ = 0, stride_ = 1;
    int idle_wakes_ = 0;
    double completion_s_ = 0;
    int local_gpus_ = 0;
};

Result replay(const Workload& workload, const Snapshot& cluster, Policy& policy, const EngineOptions& options) {
    return Engine(workload, cluster, policy, options).run();
}

}  // namespace squall::sim
