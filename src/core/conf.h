// SPDX-License-Identifier: GPL-3.0-or-later
// squall.conf as plain data. Slurm's own style: Key=Value, comments, '\' continuation, Include, hostlist
// ranges, keys case-insensitive. Read by every program and by the plugins; reading never throws and never
// exits: errors are lines that name file, line, key and value, and say what is accepted.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/core/model.h"
#include "src/core/request.h"

namespace squall {

// NodeClass=NAME Nodes=… : a NodeClass of the model plus what only the configuration knows.
struct NodeClassConf {
    NodeClass spec;                                     // counts may be 0 here; the reader fills them from Slurm
    std::vector<std::string> nodes;                     // expanded hostlist
    std::string driver;                                 // rented: cloud driver, "local" …
    std::map<std::string, std::string> driver_options;  // Driver.Key=Value, untouched
    int line = 0;
};

// Offer=NAME Class=CLASS …: one of several ways to rent a node of a class; without any, the class is its own offer.
struct OfferConf {
    std::string name, class_name;
    std::string driver;                                 // "" = the class's
    std::optional<Micro> price;                         // none: the class's, or a price book's
    Seconds billing_step_s = 0, billing_min_s = -1;     // 0 and -1 = the class's
    int interruptions_ppm_h = -1;                       // -1 = the class's
    std::map<std::string, std::string> driver_options;  // the class's, where not given here
    int line = 0;
};

// Account=NAME BudgetDay=… BudgetMonth=…: what a Slurm account's jobs may rent.
struct AccountConf {
    std::string name;
    Micro budget_day_micro = 0, budget_month_micro = 0;
};

struct PartitionConf {
    std::string name;
    bool manage_all = false;  // Manage=all: every GPU job is Squall's; Manage=due: those with a due date
    std::string burst_to;     // partition that holds the rented nodes
    Micro late_micro_h = 0;   // default --late-cost
};

struct ProfileConf {
    std::string name;
    std::vector<RuntimeEntry> runtimes;
};

struct GroupConf {
    std::string name;
    std::vector<std::string> classes;
    int max_nodes = 0;
};

struct Conf {
    std::string path;  // of the file read
    std::string currency = "EUR";
    std::string state_dir = "/var/lib/squall";  // StateDir: ledger.db, sockets, locks
    std::string log_dir = "/var/log/squall";    // LogDir: squalld.log, squall-cloudd.log
    std::string program_dir;                    // ProgramDir: where squalld and squall-cloudd are; default compiled in
    int log_level = 3;                          // LogLevel: error=1 warning=2 info=3 debug=4
    std::int64_t plan_time_ms = 2000;           // PlanTime
    int threads = 2;
    std::uint64_t seed = 1;
    Seconds interval_s = 60;       // Interval: replan at least this often
    std::int64_t poll_ms = 1000;   // PollInterval: ask Slurm for changes this often
    Seconds dead_man_s = 300;      // DeadManTime
    Seconds park_s = 300;          // ParkTime: a new job's begin time is now + this until it is planned
    bool backfill = true;          // Backfill: chain sched/backfill
    bool dry_run = false;          // DryRun
    int quantile_pct = 0;          // RuntimeQuantile: 50 … 90; 0 = auto
    Seconds aging_s = kDay;        // AgingTime, 0 = off
    int scaling_pct = 90;          // ScalingEfficiency: speed-up kept per doubling when --runtime says nothing
    Micro budget_day_micro = 0;    // BudgetDay, 0 = none
    Micro budget_month_micro = 0;  // BudgetMonth
    Micro budget_job_micro = 0;    // BudgetJob: rent of one job, 0 = none
    std::string alert_program;     // AlertProgram: run when an admin is needed
    std::string price_dir;         // PriceDir: price books
    std::vector<NodeClassConf> classes;
    std::vector<PartitionConf> partitions;
    std::vector<ProfileConf> profiles;
    std::vector<GroupConf> groups;
    std::vector<OfferConf> offers;
    std::vector<AccountConf> accounts;

    std::string ledger_path() const { return state_dir + "/ledger.db"; }
    std::string poke_socket() const { return state_dir + "/squalld.sock"; }
    std::string cloud_socket() const { return state_dir + "/cloudd.sock"; }
    const PartitionConf* partition(const std::string& name) const;
};

struct ConfResult {
    Conf conf;                        // defaults where errors left a key unset
    std::vector<std::string> errors;  // "FILE:LINE: Key=Value: what is wrong; what to write"
    std::vector<std::string> warnings;
};
ConfResult read_conf(const std::string& path);

// --conf argument, else $SQUALL_CONF, else squall.conf beside $SLURM_CONF, else the compiled-in default.
std::string find_conf(const std::string& argument);

}  // namespace squall
