// SPDX-License-Identifier: GPL-3.0-or-later
// A plan as the search sees it: for every job a configuration, and for every shop the order in which its jobs are
// appended. Changes are tried from the first position that differs, given up as soon as they cost more than a limit,
// and kept or dropped. Owned and used by one thread.
#pragma once
#include <functional>
#include <vector>

#include "src/core/shop.h"

namespace squall {

class Sequence {
  public:
    explicit Sequence(const Shops& shops);

    // Everything anew. order: positions in Shops::jobs, each once; choice[j]: which of the job's configurations.
    void assign(const std::vector<int>& order, const std::vector<int>& choice);
    // The same, each job with the choice of least score when its turn comes; +infinity: not that one.
    using Score = std::function<double(int job, const ShopConfig& config, Tick end)>;
    void deal(const std::vector<int>& order, const Score& score);
    // All jobs by shop, each shop in its order.
    std::vector<int> order() const;

    double cost() const { return cost_; }
    int choice(int job) const { return choice_[static_cast<std::size_t>(job)]; }
    int shop_of(int job) const { return config(job).shop; }
    int position(int job) const { return position_[static_cast<std::size_t>(job)]; }
    const std::vector<int>& line(int shop) const { return lines_[static_cast<std::size_t>(shop)].jobs; }
    Tick start(int job) const { return slot(job).start; }
    double job_cost(int job) const { return slot(job).cost; }
    // Where in the shop's line a job that starts then would stand.
    int position_at(int shop, Tick start) const;

    // What if the job stood at `position` of the line of the shop of configuration `choice`? True where the whole then
    // costs at most `limit`; keep() makes it so, any other call forgets it.
    bool try_move(int job, int choice, int position, double limit);
    bool try_swap(int a, int b, double limit);    // both in one shop
    // Give a change up, too, where so far it costs more than the limit lets it and leaves the nodes no freer: what
    // follows will hardly make up for it. Much faster; refuses a few changes that would be good.
    void hurry(bool on) { hurry_ = on; }
    double tried_cost() const { return tried_; }  // of the whole, after a try that was true
    void keep();

    // Spots for a Schedule, in the order of appending.
    std::vector<std::pair<int, Spot>> spots(Seconds now) const;

  private:
    struct Slot {
        Tick start = 0, end = 0;
        double cost = 0;
    };
    struct Line {
        std::vector<int> jobs;
        std::vector<Slot> slots;
        std::vector<double> before;          // cost of all jobs before each position, and of all
        std::vector<ShopState> checkpoints;  // before every kStep-th position
        std::vector<double> busy;            // beside checkpoints: sum of the times at which GPUs are free
    };
    struct Trial {
        int shop = -1, from = 0, until = 0;  // positions evaluated; what follows is as it was, or the end
        int shift = 0;                       // jobs more than in the current line
        Line line;
        double cost = 0;
    };
    static constexpr int kStep = 8;

    const ShopConfig& config(int job) const {
        const auto& j = shops_->jobs[static_cast<std::size_t>(job)];
        return j.configs[static_cast<std::size_t>(choice_[static_cast<std::size_t>(job)])];
    }
    const Slot& slot(int job) const {
        return lines_[static_cast<std::size_t>(shop_of(job))].slots[static_cast<std::size_t>(position(job))];
    }
    bool evaluate(Trial& trial, double limit);
    bool hopeless(const Trial& trial, const Line& now, int position, double cost, double limit) const;
    int last_difference(const Trial& trial, const Line& now) const;
    void apply(Trial& trial);
    static void swap_checkpoint(Line& line, Line& other, std::size_t at);

    const Shops* shops_;
    std::vector<int> choice_, position_;
    std::vector<Line> lines_;
    double cost_ = 0, tried_ = 0;
    Trial first_, second_;
    int moved_job_ = -1, moved_choice_ = -1;
    bool hurry_ = false;
    ShopState state_;
    Appended appended_;
};

}  // namespace squall
