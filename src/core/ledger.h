// SPDX-License-Identifier: GPL-3.0-or-later
// The ledger: one SQLite file (WAL) that is the only state shared by squalld, squall-cloudd, the power-save
// hooks, splan and squall-sim, and the durable queue between them. Every call is one transaction; any
// process may be killed between two calls and nothing is lost. A Ledger belongs to one thread.
// Failures (full disk, read-only, corrupt, newer schema) throw LedgerError; *_main.cc and loops catch it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "src/core/billing.h"
#include "src/core/units.h"

struct sqlite3;

namespace squall {

struct LedgerError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A job Squall has seen: what the user asked for, kept so that it can be put back.
struct JobRow {
    std::uint32_t job_id = 0;
    Seconds submit_at = 0;  // with job_id the key: Slurm reuses ids
    std::string user, account, partition, name;
    std::string request;  // canonical words (src/core/request.h)
    std::string asked;    // JSON: the shape and partition Slurm had before Squall changed anything
};

struct DecisionRow {
    std::uint32_t job_id = 0;
    Seconds submit_at = 0;
    Seconds decided_at = 0;
    std::string state;                                // planned, started, released, unplaceable …
    std::string config;                               // "2×4 v100", "25% v100"
    std::string nodes;                                // hostlist
    Seconds start = 0, end = 0;                       // planned
    Micro late = 0, rent = 0, energy = 0, moves = 0;  // predicted
    std::string why;
};

// What became of a finished job, priced with the same rules as the plan.
struct OutcomeRow {
    std::uint32_t job_id = 0;
    Seconds submit_at = 0;
    std::string slurm_state;  // COMPLETED, FAILED …
    Seconds start = 0, end = 0;
    std::optional<Seconds> due;
    std::string class_name, config, nodes;
    bool rented = false, shared_gpu = false;
    int node_count = 0;
    Micro late = 0, rent = 0, energy = 0;
    Seconds planned_start = 0, planned_end = 0;  // as decided when it was released
    Micro planned_late = 0, planned_rent = 0, planned_energy = 0;
};

struct CycleRow {
    Seconds at = 0;
    int jobs = 0, placed = 0, starts = 0;
    Micro cost = 0, bound = 0;
    std::int64_t plan_ms = 0;
    std::string note;
};

enum class PowerAction { resume, suspend, resume_fail };
const char* to_string(PowerAction action);
bool from_string(const std::string& text, PowerAction& action);

// Queued by squall-resume, squall-suspend and squall-resume-fail; taken by squall-cloudd.
struct PowerRequest {
    std::int64_t id = 0;
    std::string node;
    PowerAction action = PowerAction::resume;
    Seconds asked_at = 0;
    std::string job_ids;  // comma separated, may be empty
};

// wanted → launching → booting → ready → draining → terminating → closed; failed is a closed lease that never served.
enum class LeaseState { wanted, launching, booting, ready, draining, terminating, closed, failed };
const char* to_string(LeaseState state);
bool from_string(const std::string& text, LeaseState& state);

struct Lease {
    std::int64_t id = 0;
    std::string node;
    int generation = 0;  // 1, 2, … per node: a resume of the same name is a new generation
    LeaseState state = LeaseState::wanted;
    std::string class_name, driver, offer;
    std::string instance_id, address;
    Micro price_micro_h = 0;
    Seconds billing_step_s = 1, billing_min_s = 0;
    std::string job_ids;
    Seconds wanted_at = 0, launched_at = 0, ready_at = 0, closed_at = 0;  // 0 = not yet; rent runs from launched_at
    Seconds released_at = 0;  // … to released_at, when the cloud has taken the order to terminate
    Micro cost = 0;           // booked when closed; until then splan computes what it has cost so far
    std::string reason;       // why it failed or ended
    int attempt = 0;          // launch calls made; with node and generation the launch token
    Seconds state_at = 0;     // when it came into this state
    Seconds planned_end = 0;  // until when its jobs are planned to hold it: what a budget must cover; 0 = not known
    bool tell_slurm = false;  // it ends before Slurm asked for that: the node must be powered down in Slurm
    // Rent from its launch to `end`; 0 when it was never launched.
    Micro rent_until(Seconds end) const {
        return launched_at == 0 ? 0 : lease_cost(price_micro_h, billing_step_s, billing_min_s, launched_at, end);
    }
    bool open() const { return state != LeaseState::closed && state != LeaseState::failed; }
};

// What the lease owes for the time from `since` to `now`: what was owed at `since` belongs to the time before it.
Micro rent_of(const Lease& lease, Seconds since, Seconds now);

// What squall-cloudd has learned about a rented class, for the planner: it replaces what squall.conf says.
struct ClassFact {
    std::string class_name;
    Micro price_micro_h = 0;      // of the offer that would be launched now
    int interruptions_ppm_h = 0;  // its spot risk
    Seconds boot_s = 0;           // 90 % of the last boots were faster; 0 = not enough of them
    std::string offer;            // "" = the class has one only, and squall.conf's price and risk hold
    bool operator==(const ClassFact&) const = default;
};

// A node or offer that must not be used for a while (no capacity, never booted).
struct Block {
    std::string
        key;  // node name, "class:NAME", "offer:NAME", "family:…"; "boots:NAME" only counts and is never in force
    Seconds until = 0;
    int failures = 0;
    std::string reason;
};

class Ledger {
  public:
    // Creates the file and its schema, or migrates an older one. A newer schema is refused. A lock that another
    // process holds is waited for (10 s), here and in every call. Throws LedgerError naming the path.
    static Ledger open(const std::string& path);
    // Never creates, migrates or writes; works for a user who may only read StateDir. A writing call throws.
    static Ledger open_read_only(const std::string& path);
    Ledger(Ledger&&) noexcept;
    Ledger& operator=(Ledger&&) noexcept;
    ~Ledger();

    void put_job(const JobRow& row);  // first sight wins; later calls change nothing
    std::optional<JobRow> job(std::uint32_t job_id, Seconds submit_at);
    std::vector<JobRow> jobs();
    void put_decision(const DecisionRow& row);
    std::optional<DecisionRow> last_decision(std::uint32_t job_id, Seconds submit_at);
    std::vector<DecisionRow> decisions(std::uint32_t job_id);  // oldest first, for --why
    void put_outcome(const OutcomeRow& row);                   // first one wins
    std::vector<OutcomeRow> outcomes();
    void put_cycle(const CycleRow& row);
    std::optional<CycleRow> last_cycle();
    Seconds last_confirmed_cycle();  // 0 = never

    // Several calls as one transaction: all of them, after commit(), or none.
    class Batch {
      public:
        explicit Batch(Ledger& ledger);
        ~Batch();
        void commit();

      private:
        struct Open;
        std::unique_ptr<Open> open_;
    };

    void push_power_requests(const std::vector<PowerRequest>& requests);  // one transaction
    std::vector<PowerRequest> pending_power_requests();                   // oldest first
    void finish_power_request(std::int64_t id);

    std::int64_t add_lease(Lease lease);    // assigns id and the node's next generation
    void update_lease(const Lease& lease);  // by id; every field
    std::vector<Lease> open_leases();
    std::vector<Lease> leases();
    std::optional<Lease> open_lease(const std::string& node);
    std::vector<Lease> leases_since(Seconds since);  // launched ones that were open at or after `since`
    std::string account_of(std::uint32_t job_id);    // of the last job with this id; "" = not known
    std::vector<Seconds> boot_times(const std::string& class_name, int most);  // launch to ready, newest first
    void put_class_facts(const std::vector<ClassFact>& facts);                 // replaces all
    std::vector<ClassFact> class_facts();
    Micro rent_since(Seconds since, Seconds now);  // booked plus running leases' cost so far

    void put_block(const Block& block);                  // replaces one with the same key
    std::optional<Block> block(const std::string& key);  // in force or not: failures are counted on
    void clear_block(const std::string& key);
    std::vector<Block> blocks(Seconds now);  // those still in force

  private:
    struct Impl;
    explicit Ledger(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace squall
