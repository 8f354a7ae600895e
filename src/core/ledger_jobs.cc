// SPDX-License-Identifier: GPL-3.0-or-later
// The ledger's rows about jobs: requests, decisions, outcomes, planning cycles. See ledger.h.
#include "src/core/ledger_impl.h"

namespace squall {
namespace {

constexpr int kCyclesKept = 10000;  // a few hours to days; only the last ones are ever looked at

// Column order of the tables, once for writing and reading.
#define JOB_COLUMNS "job_id, submit_at, user, account, partition, name, request, asked"
template <typename Row>
auto job_fields(Row& r) {
    return std::tie(r.job_id, r.submit_at, r.user, r.account, r.partition, r.name, r.request, r.asked);
}

#define DECISION_COLUMNS \
    "job_id, submit_at, decided_at, state, config, nodes, start, end, late, rent, energy, moves, why"
template <typename Row>
auto decision_fields(Row& r) {
    return std::tie(r.job_id, r.submit_at, r.decided_at, r.state, r.config, r.nodes, r.start, r.end, r.late, r.rent,
                    r.energy, r.moves, r.why);
}

#define OUTCOME_COLUMNS                                                                                \
    "job_id, submit_at, slurm_state, start, end, due, class_name, config, nodes, rented, shared_gpu, " \
    "node_count, late, rent, energy, planned_start, planned_end, planned_late, planned_rent, planned_energy"
template <typename Row>
auto outcome_fields(Row& r) {
    return std::tie(r.job_id, r.submit_at, r.slurm_state, r.start, r.end, r.due, r.class_name, r.config, r.nodes,
                    r.rented, r.shared_gpu, r.node_count, r.late, r.rent, r.energy, r.planned_start, r.planned_end,
                    r.planned_late, r.planned_rent, r.planned_energy);
}

#define CYCLE_COLUMNS "at, jobs, placed, starts, cost, bound, plan_ms, note"
template <typename Row>
auto cycle_fields(Row& r) {
    return std::tie(r.at, r.jobs, r.placed, r.starts, r.cost, r.bound, r.plan_ms, r.note);
}

}  // namespace

// Found by the templates of sqlite.h.
static auto fields(JobRow& row) { return job_fields(row); }
static auto fields(DecisionRow& row) { return decision_fields(row); }
static auto fields(OutcomeRow& row) { return outcome_fields(row); }
static auto fields(CycleRow& row) { return cycle_fields(row); }

void Ledger::put_job(const JobRow& row) {
    impl_->db.run_tuple("INSERT OR IGNORE INTO jobs (" JOB_COLUMNS ") VALUES", job_fields(row));
}

std::optional<JobRow> Ledger::job(std::uint32_t job_id, Seconds submit_at) {
    return impl_->db.row<JobRow>("SELECT " JOB_COLUMNS " FROM jobs WHERE job_id = ? AND submit_at = ?", job_id,
                                 submit_at);
}

std::vector<JobRow> Ledger::jobs() {
    return impl_->db.rows<JobRow>("SELECT " JOB_COLUMNS " FROM jobs ORDER BY submit_at, job_id");
}

void Ledger::put_decision(const DecisionRow& row) {
    impl_->db.run_tuple("INSERT INTO decisions (" DECISION_COLUMNS ") VALUES", decision_fields(row));
}

std::optional<DecisionRow> Ledger::last_decision(std::uint32_t job_id, Seconds submit_at) {
    return impl_->db.row<DecisionRow>("SELECT " DECISION_COLUMNS
                                      " FROM decisions WHERE job_id = ? AND submit_at = ? ORDER BY id DESC LIMIT 1",
                                      job_id, submit_at);
}

std::vector<DecisionRow> Ledger::decisions(std::uint32_t job_id) {
    return impl_->db.rows<DecisionRow>("SELECT " DECISION_COLUMNS " FROM decisions WHERE job_id = ? ORDER BY id",
                                       job_id);
}

void Ledger::put_outcome(const OutcomeRow& row) {
    impl_->db.run_tuple("INSERT OR IGNORE INTO outcomes (" OUTCOME_COLUMNS ") VALUES", outcome_fields(row));
}

std::vector<OutcomeRow> Ledger::outcomes() {
    return impl_->db.rows<OutcomeRow>("SELECT " OUTCOME_COLUMNS " FROM outcomes ORDER BY end, job_id");
}

void Ledger::put_cycle(const CycleRow& row) {
    sqlite::Transaction transaction(impl_->db);
    impl_->db.run_tuple("INSERT INTO cycles (" CYCLE_COLUMNS ") VALUES", cycle_fields(row));
    impl_->db.run("DELETE FROM cycles WHERE id <= ?", impl_->db.last_insert_id() - kCyclesKept);
    transaction.commit();
}

std::optional<CycleRow> Ledger::last_cycle() {
    return impl_->db.row<CycleRow>("SELECT " CYCLE_COLUMNS " FROM cycles ORDER BY id DESC LIMIT 1");
}

Seconds Ledger::last_confirmed_cycle() { return impl_->db.integer("SELECT max(at) FROM cycles"); }

}  // namespace squall
