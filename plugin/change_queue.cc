// SPDX-License-Identifier: GPL-3.0-or-later
#include "plugin/change_queue.h"

#include <signal.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <exception>
#include <optional>
#include <utility>

#include "plugin/slurm_symbols.h"
#include "plugin/submission.h"
#include "src/core/poke.h"

namespace squall::plugin {
namespace {

using namespace std::chrono_literals;

// squalld writes AdminComment as well and may have read it just before the change: look again until its cycle is over.
constexpr auto kLookAgain = 1s;
constexpr auto kMargin = 3s;

using Jobs = std::unique_ptr<job_info_msg_t, void (*)(job_info_msg_t*)>;

Jobs load_job(std::uint32_t id) {
    job_info_msg_t* jobs = nullptr;
    if (slurm_load_job(&jobs, id, SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS) jobs = nullptr;
    return Jobs(jobs, slurm_free_job_info_msg);
}

const slurm_job_info_t* find(const Jobs& jobs, std::uint32_t id) {
    for (std::uint32_t i = 0; jobs && i < jobs->record_count; ++i)
        if (jobs->job_array[i].job_id == id) return &jobs->job_array[i];
    return nullptr;
}

void send(const slurm_job_info_t& job, const AdminComment& comment, std::optional<Seconds> begin) {
    auto text = format_admin_comment(comment);
    if (job.admin_comment && text == job.admin_comment) return;
    job_desc_msg_t update;
    slurm_init_job_desc_msg(&update);
    update.job_id = job.job_id;
    update.admin_comment = text.data();
    if (begin) update.begin_time = static_cast<time_t>(*begin);
    if (slurm_update_job(&update) != SLURM_SUCCESS)
        slurm_error("job_submit/squall: job %u: the change of its comment cannot be stored: %s", job.job_id,
                    slurm_strerror(errno));
}

}  // namespace

void ChangeQueue::start() {
    if (thread_.joinable()) return;
    stop_ = false;
    thread_ = std::thread([this] {
        try {
            run();
        } catch (const std::exception& e) {
            slurm_error("job_submit/squall: changes of comments are not followed any more: %s", e.what());
        }
    });
}

void ChangeQueue::stop() {
    if (!thread_.joinable()) return;
    {
        std::lock_guard lock(mutex_);
        stop_ = true;
    }
    woken_.notify_all();
    thread_.join();
}

void ChangeQueue::push(std::shared_ptr<const Conf> conf, Change change) {
    auto now = Clock::now();
    auto settled = now + std::chrono::milliseconds(conf->plan_time_ms) + kMargin;
    {
        std::lock_guard lock(mutex_);
        auto id = change.job_id;
        // The update itself is not in the job yet: slurmctld still holds its locks.
        entries_[id] = {std::move(conf), std::move(change), now + 20ms, settled, ++version_};
    }
    woken_.notify_all();
}

void ChangeQueue::run() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    std::unique_lock lock(mutex_);
    while (!stop_) {
        auto due = std::min_element(entries_.begin(), entries_.end(),
                                    [](const auto& a, const auto& b) { return a.second.next < b.second.next; });
        if (due == entries_.end()) {
            woken_.wait(lock);
            continue;
        }
        if (due->second.next > Clock::now()) {
            woken_.wait_until(lock, due->second.next);
            continue;
        }
        Entry entry = due->second;
        lock.unlock();
        bool again = look(entry);
        lock.lock();
        auto at = entries_.find(entry.change.job_id);
        if (at == entries_.end() || at->second.version != entry.version) continue;
        at->second.next = Clock::now() + kLookAgain;
        if (!again || at->second.next > at->second.settled) entries_.erase(at);
    }
}

bool ChangeQueue::look(const Entry& entry) {
    const auto& change = entry.change;
    auto jobs = load_job(change.job_id);
    const auto* job = find(jobs, change.job_id);
    // Another comment: the update failed for a reason of Slurm's, or a newer one came.
    if (!job || !job->comment || change.comment != job->comment) return jobs == nullptr;
    auto changed = apply_change(*entry.conf, *job, change.comment, change.at);
    if (!changed.error.empty()) slurm_info("job_submit/squall: job %u: %s", change.job_id, changed.error.c_str());
    if (!changed.comment) return false;
    send(*job, *changed.comment, changed.begin);
    poke(entry.conf->poke_socket());
    return true;
}

}  // namespace squall::plugin
