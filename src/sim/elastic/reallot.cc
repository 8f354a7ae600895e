// SPDX-License-Identifier: GPL-3.0-or-later
// The best of several rules, then better first steps: one job another size, two jobs exchanged, each judged by playing
// on with the rule until the end.
#include <algorithm>

#include "src/sim/dice.h"
#include "src/sim/elastic/elastic.h"

namespace squall::sim {
namespace {

class Search {
  public:
    Search(const ElasticProblem& problem, const ReallotOptions& options)
        : problem_(problem), options_(options), dice_(options.seed) {}

    Shares run() {
        choose_rule();
        for (int j = 0; j < static_cast<int>(problem_.jobs.size()); ++j)
            if (!problem_.jobs[j].sizes.empty()) jobs_.push_back(j);
        if (jobs_.size() < 1) return best_;
        while (plays_ < options_.plays) {
            Shares changed = best_;
            change(changed);
            if (changed == best_ || !fits(changed)) {
                if (++idle_ > 20 * options_.plays) break;
                continue;
            }
            double cost = play(problem_, rule_, &changed);
            ++plays_;
            if (cost >= cost_) continue;
            cost_ = cost;
            best_ = std::move(changed);
        }
        return best_;
    }

  private:
    void choose_rule() {
        for (double lookahead : {0.3, 1.0, 4.0})
            for (double growth : {0.5, 1.0, 3.0}) {
                ShareRule rule;
                rule.lookahead = lookahead;
                rule.growth = growth;
                double cost = play(problem_, rule);
                ++plays_;
                if (plays_ > 1 && cost >= cost_) continue;
                cost_ = cost;
                rule_ = rule;
            }
        best_ = share(problem_, rule_);
    }

    int pick() { return jobs_[dice_.whole(0, static_cast<int>(jobs_.size()) - 1)]; }
    int any_size(int j) { return dice_.whole(-1, static_cast<int>(problem_.jobs[j].sizes.size()) - 1); }

    void change(Shares& shares) {
        int a = pick();
        shares[a] = any_size(a);
        if (dice_.chance(60)) {
            int b = pick();
            if (b != a) shares[b] = any_size(b);
        }
        if (dice_.chance(20)) {
            int b = pick();
            if (b != a) shares[b] = any_size(b);
        }
    }

    bool fits(const Shares& shares) const {
        std::vector<int> free = problem_.pool_gpus;
        bool any = false;
        for (int j : jobs_) {
            if (shares[j] < 0) continue;
            const auto& size = problem_.jobs[j].sizes[shares[j]];
            if ((free[size.pool] -= size.gpus) < 0) return false;
            any = true;
        }
        return any;
    }

    const ElasticProblem& problem_;
    const ReallotOptions& options_;
    Dice dice_;
    ShareRule rule_;
    Shares best_;
    double cost_ = 0;
    std::int64_t plays_ = 0, idle_ = 0;
    std::vector<int> jobs_;
};

}  // namespace

Shares reallot(const ElasticProblem& problem, const ReallotOptions& options) { return Search(problem, options).run(); }

}  // namespace squall::sim
