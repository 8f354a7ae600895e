// SPDX-License-Identifier: GPL-3.0-or-later
#include "plugin/submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "src/core/request.h"

namespace squall::plugin {
namespace {

constexpr std::string_view kCommentPrefix = "squall:";
constexpr const char* kNotYours = "AdminComment is written by Squall alone; write the words to Comment=\"squall: …\"";
constexpr std::string_view kOptionPrefix = "_SLURM_SPANK_OPTION_squall_";

Verdict refuse(std::string message) { return {true, false, "squall: " + std::move(message)}; }

bool is_ours(const char* comment) {
    return comment && std::string_view(comment).substr(0, kCommentPrefix.size()) == kCommentPrefix;
}

Verdict note(const std::string& message) { return {false, false, message.empty() ? "" : "squall: " + message}; }

std::string underscored(std::string name) {
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

// Options that came through spank_squall.so: Slurm writes '-' as '_' there.
std::string read_options(Request& request, const job_desc_msg_t& job, Seconds now) {
    for (uint32_t i = 0; i < job.spank_job_env_size; ++i) {
        std::string_view entry = job.spank_job_env[i] ? job.spank_job_env[i] : "";
        if (entry.substr(0, kOptionPrefix.size()) != kOptionPrefix) continue;
        entry.remove_prefix(kOptionPrefix.size());
        auto equal = entry.find('=');
        auto value = equal == entry.npos ? std::string_view() : entry.substr(equal + 1);
        for (const auto& spec : option_specs()) {
            if (underscored(spec.name) != entry.substr(0, equal)) continue;
            if (spec.arg_optional && value == "(null)") value = "";
            if (auto error = set_option(request, spec.name, value, now); !error.empty()) return error;
        }
    }
    return "";
}

// The same words in --comment, for front ends that cannot pass options. Options win over the comment.
std::string read_comment(Request& request, const char* comment, Seconds now) {
    if (!is_ours(comment)) return "";
    std::string_view text = comment;
    text.remove_prefix(kCommentPrefix.size());
    auto error = parse_words(request, text, now);
    return error.empty() ? "" : fmt::format("--comment=\"squall: …\": {}", error);
}

bool names_gpus(const char* tres) {
    return tres && (strstr(tres, "gpu") || strstr(tres, "shard") || strstr(tres, "mps"));
}

bool asks_whole_gpus(const job_desc_msg_t& job) {
    for (const char* tres : {job.tres_per_job, job.tres_per_node, job.tres_per_socket, job.tres_per_task})
        if (tres && strstr(tres, "gpu")) return true;
    return false;
}

bool asks_gpus(const job_desc_msg_t& job) {
    return names_gpus(job.tres_per_job) || names_gpus(job.tres_per_node) || names_gpus(job.tres_per_socket) ||
           names_gpus(job.tres_per_task);
}

bool has_deadline(const job_desc_msg_t& job) {
    return job.deadline != 0 && job.deadline != static_cast<time_t>(NO_VAL);
}

std::string check_profile(const Conf& conf, const Request& r) {
    std::string known;
    for (const auto& profile : conf.profiles) {
        if (profile.name == r.profile) return "";
        known += (known.empty() ? "" : ", ") + profile.name;
    }
    if (r.profile.empty()) return "";
    return fmt::format("--run-profile={}: no such profile; {}", r.profile,
                       known.empty() ? "this site has none, use --runtime" : "write one of " + known);
}

// What does not go together, and what to write instead; "" = fine.
std::string check_together(const Conf& conf, const Request& r, const job_desc_msg_t& job) {
    if (r.gpu_share_pct > 0 && asks_whole_gpus(job))
        return fmt::format("--gpu-share={}% and whole GPUs in one job: leave out --gres/--gpus, or --gpu-share",
                           r.gpu_share_pct);
    if (r.gpu_share_pct > 0 && !r.gpu_counts.empty()) return "--gpu-share and --gpu-range in one job: leave one out";
    if (r.late_micro_h && !r.due) return "--late-cost says what being late costs: add --due=TIME, such as --due=18:00";
    return check_profile(conf, r);
}

bool can_be_planned(const Request& r, const job_desc_msg_t& job) {
    return asks_gpus(job) || r.gpu_share_pct > 0 || !r.gpu_counts.empty() || !r.runtimes.empty() || !r.profile.empty();
}

// The first partition of a list that squall.conf knows.
const PartitionConf* partition_of(const Conf& conf, const std::string& list) {
    for (std::size_t from = 0; from <= list.size();) {
        auto end = std::min(list.find(',', from), list.size());
        if (const auto* p = conf.partition(list.substr(from, end - from))) return p;
        from = end + 1;
    }
    return nullptr;
}

// Slurm cancels a pending job as soon as its whole time limit (--time-min, where given) no longer fits before its
// --deadline, however short the run.
std::string latest_start_note(const Conf& conf, const Request& r, const job_desc_msg_t& job) {
    bool limited = job.time_limit != NO_VAL && job.time_limit != INFINITE;
    bool time_min = job.time_min != NO_VAL && job.time_min != 0;
    if (!r.hard || !limited || time_min) return "";
    const auto* entries = &r.runtimes;
    for (const auto& profile : conf.profiles)
        if (entries->empty() && profile.name == r.profile) entries = &profile.runtimes;
    Seconds longest = 0;
    for (const auto& entry : *entries) longest = std::max(longest, entry.run_s);
    auto minutes = (longest + 59) / 60;
    if (minutes == 0 || minutes >= static_cast<Seconds>(job.time_limit)) return "";
    return fmt::format(
        "Slurm cancels this job when {} minutes (--time) no longer fit before --deadline; with "
        "--time-min={} it may start later",
        job.time_limit, minutes);
}

void park(const Conf& conf, const Request& request, job_desc_msg_t& job, Seconds now) {
    AdminComment comment;
    comment.request = request;
    comment.plan["state"] = "parked";
    bool begins = job.begin_time != 0 && job.begin_time != static_cast<time_t>(NO_VAL);
    if (begins) comment.plan["begin"] = std::to_string(job.begin_time);
    set_text(job.admin_comment, format_admin_comment(comment).c_str());
    if (conf.dry_run) return;
    // By its begin time, never by a hold: if Squall dies, the job becomes eligible by itself.
    job.begin_time = std::max<time_t>(now + conf.park_s, begins ? job.begin_time : 0);
}

}  // namespace

Verdict take_submission(const Conf& conf, const std::string& default_partition, job_desc_msg_t& job, Seconds now) {
    if (is_ours(job.admin_comment)) return refuse(kNotYours);
    Request request;
    if (auto error = read_comment(request, job.comment, now); !error.empty()) return refuse(error);
    if (auto error = read_options(request, job, now); !error.empty()) return refuse(error);
    bool asked = request.any(), due_asked = request.due.has_value();
    const auto* partition = partition_of(conf, job.partition && *job.partition ? job.partition : default_partition);
    if (has_deadline(job) && (partition || request.due)) {
        if (!request.due) request.due = job.deadline;
        request.hard = *request.due >= job.deadline;
    }
    if (auto error = check_together(conf, request, job); !error.empty()) return refuse(error);
    bool plannable = can_be_planned(request, job);
    bool managed = plannable && (request.due || (partition && partition->manage_all));
    if (!managed && due_asked)
        return refuse("--due needs a job that uses GPUs: add --gres=gpu:1, --gpu-range=1-4 or --gpu-share=25%");
    if (!managed)
        return asked ? note("without --due this job is left to Slurm; add --due=TIME to have it planned") : note("");
    if (job.array_inx && *job.array_inx)
        return asked ? note("job arrays are left to Slurm; the due date is not planned for") : note("");
    if (format_words(request).size() > kMaxRequestText)
        return refuse(fmt::format(
            "the request is longer than {} characters; use a profile of squall.conf (--run-profile) for long "
            "--runtime lists",
            kMaxRequestText));
    park(conf, request, job, now);
    Verdict verdict = note(latest_start_note(conf, request, job));
    verdict.parked = true;
    return verdict;
}

Verdict take_change(const Conf& conf, const job_desc_msg_t& change, bool privileged, Seconds now) {
    if (!privileged && is_ours(change.admin_comment)) return refuse(kNotYours);
    if (change.admin_comment || !is_ours(change.comment)) return {};
    Request request;
    if (auto error = read_comment(request, change.comment, now); !error.empty()) return refuse(error);
    if (auto error = check_profile(conf, request); !error.empty()) return refuse(error);
    return {false, true, ""};
}

Changed apply_change(const Conf& conf, const slurm_job_info_t& job, std::string_view comment, Seconds now) {
    auto state = job.job_state & JOB_STATE_BASE;
    bool pending = state == JOB_PENDING;
    if (!pending && state != JOB_RUNNING && state != JOB_SUSPENDED) return {};
    auto stored = job.admin_comment ? parse_admin_comment(job.admin_comment) : std::nullopt;
    bool ours = stored && stored->plan["state"] != "unmanaged";
    if (!ours && !pending) return {};
    AdminComment out = stored.value_or(AdminComment{});
    if (auto error = read_comment(out.request, std::string(comment).c_str(), now); !error.empty())
        return {{}, {}, error};
    job_desc_msg_t shape{};
    shape.tres_per_job = job.tres_per_job;
    shape.tres_per_node = job.tres_per_node;
    shape.tres_per_socket = job.tres_per_socket;
    shape.tres_per_task = job.tres_per_task;
    bool hard = job.deadline != 0 && job.deadline != static_cast<time_t>(NO_VAL);
    if (hard && !out.request.due) out.request.due = job.deadline;
    out.request.hard = hard && *out.request.due >= job.deadline;
    if (format_words(out.request).size() > kMaxRequestText) return {{}, {}, "the request would be too long"};
    if (ours) return {out, {}, ""};  // its shape is Squall's by now and says nothing of what was asked
    if (auto error = check_together(conf, out.request, shape); !error.empty()) return {{}, {}, error};
    if (job.array_job_id != 0 || job.het_job_id != 0 || !out.request.due || !can_be_planned(out.request, shape))
        return {{}, {}, "it stays with Slurm: planning needs a due date and GPUs, and no job array"};
    out.plan["state"] = "parked";
    if (job.eligible_time > now) out.plan["begin"] = std::to_string(job.eligible_time);
    if (conf.dry_run) return {out, {}, ""};
    return {out, std::max<Seconds>(now + conf.park_s, job.eligible_time), ""};
}

}  // namespace squall::plugin
