// SPDX-License-Identifier: GPL-3.0-or-later
// What job_submit/squall makes of job descriptions: whose the job is, what is refused, how it is parked, what a changed
// comment does. On the real structures of Slurm, with libslurm's allocator, without a slurmctld.
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "plugin/submission.h"
#include "tests/unit/suite.h"

using namespace squall;
using namespace squall::plugin;

namespace {

constexpr Seconds kNow = 1800000000;

// A job description as sbatch sends it; texts live as long as it does.
class Description {
  public:
    job_desc_msg_t job{};

    explicit Description(const char* gres) {
        slurm_init_job_desc_msg(&job);
        if (gres) set_text(job.tres_per_node, gres);
    }
    ~Description() {
        for (char** text : {&job.tres_per_node, &job.comment, &job.admin_comment, &job.partition, &job.array_inx})
            slurm_xfree(reinterpret_cast<void**>(text));
    }
    Description(const Description&) = delete;
    Description& operator=(const Description&) = delete;
    Description& option(const std::string& text) {
        options_.push_back("_SLURM_SPANK_OPTION_squall_" + text);
        pointers_.clear();
        for (auto& o : options_) pointers_.push_back(o.data());
        job.spank_job_env = pointers_.data();
        job.spank_job_env_size = static_cast<uint32_t>(pointers_.size());
        return *this;
    }
    Description& comment(const std::string& text) { return set_text(job.comment, text.c_str()), *this; }
    Description& partition(const char* name) { return set_text(job.partition, name), *this; }
    Verdict take(const Conf& conf, const char* default_partition = "gpu") {
        return take_submission(conf, default_partition, job, kNow);
    }
    AdminComment stored() const {
        auto parsed = job.admin_comment ? parse_admin_comment(job.admin_comment) : std::nullopt;
        ck_assert_msg(parsed.has_value(), "not Squall's: %s", job.admin_comment ? job.admin_comment : "nothing");
        return *parsed;
    }
    bool untouched() const { return !job.admin_comment && job.begin_time == 0; }

  private:
    std::vector<std::string> options_;
    std::vector<char*> pointers_;
};

Conf site() {
    Conf conf;
    conf.park_s = 300;
    conf.partitions.resize(2);
    conf.partitions[0].name = "gpu";
    conf.partitions[1].name = "all";
    conf.partitions[1].manage_all = true;
    conf.profiles.push_back({"resnet50", {{"v100", 1, 36000}}});
    return conf;
}

slurm_job_info_t pending(Description& description) {
    slurm_job_info_t info{};
    info.job_id = 7;
    info.job_state = JOB_PENDING;
    info.tres_per_node = description.job.tres_per_node;
    info.admin_comment = description.job.admin_comment;
    return info;
}

START_TEST(a_due_date_parks_the_job) {
    Description d("gres:gpu:1");
    auto verdict = d.option("due=now+2hours").option("late_cost=20").take(site());
    ck_assert(!verdict.refused && verdict.parked);
    ck_assert_text(verdict.message, "");
    ck_assert_int_eq(d.job.begin_time, kNow + 300);
    ck_assert_int_eq(*d.stored().request.due, kNow + 7200);
    ck_assert_int_eq(*d.stored().request.late_micro_h, 20000000);
    ck_assert_text(d.stored().plan.at("state"), "parked");
    ck_assert_int_eq(d.stored().plan.count("begin"), 0);
}
END_TEST

START_TEST(the_users_begin_time_is_kept) {
    Description late("gres:gpu:1"), soon("gres:gpu:1");
    late.job.begin_time = kNow + 5000;
    late.option("due=now+2hours").take(site());
    ck_assert_int_eq(late.job.begin_time, kNow + 5000);
    ck_assert_text(late.stored().plan.at("begin"), std::to_string(kNow + 5000));
    soon.job.begin_time = kNow + 5;
    soon.option("due=now+2hours").take(site());
    ck_assert_int_eq(soon.job.begin_time, kNow + 300);
    ck_assert_text(soon.stored().plan.at("begin"), std::to_string(kNow + 5));
}
END_TEST

START_TEST(jobs_that_are_not_ours_are_left_alone) {
    Description gpu("gres:gpu:1"), cpu(nullptr), other("gres:gpu:1"), array("gres:gpu:1");
    ck_assert(!gpu.take(site()).parked && gpu.untouched());
    ck_assert(!cpu.partition("all").take(site()).parked && cpu.untouched());
    std::string text = "any \"comment\",\n squall: due=now+1hour é";
    ck_assert(!other.comment(text).take(site()).parked && other.untouched());
    ck_assert_text(other.job.comment, text);
    set_text(array.job.array_inx, "1-3");
    auto verdict = array.option("due=now+2hours").take(site());
    ck_assert(!verdict.refused && !verdict.parked && array.untouched());
    ASSERT_HAS(verdict.message, "arrays");
}
END_TEST

START_TEST(a_partition_can_make_every_gpu_job_ours) {
    Description named("gres:gpu:1"), listed("gres:gpu:1"), by_default("gres:gpu:1"), share(nullptr);
    ck_assert(named.partition("all").take(site()).parked);
    ck_assert(listed.partition("cpu,all").take(site()).parked);
    ck_assert(by_default.take(site(), "all").parked);
    ck_assert(share.partition("all").option("gpu_share=25%").take(site()).parked);
}
END_TEST

START_TEST(slurms_deadline_is_a_hard_due_date) {
    Description alone("gres:gpu:1"), earlier("gres:gpu:1"), elsewhere("gres:gpu:1");
    alone.job.deadline = kNow + 9000;
    ck_assert(alone.take(site()).parked);
    ck_assert_int_eq(*alone.stored().request.due, kNow + 9000);
    ck_assert(alone.stored().request.hard);
    earlier.job.deadline = kNow + 9000;
    earlier.option("due=now+1hour").take(site());
    ck_assert_int_eq(*earlier.stored().request.due, kNow + 3600);
    ck_assert(!earlier.stored().request.hard);
    elsewhere.job.deadline = kNow + 9000;
    ck_assert(!elsewhere.partition("cpu").take(site()).parked && elsewhere.untouched());
}
END_TEST

START_TEST(a_deadline_with_a_long_limit_is_explained) {
    Description d("gres:gpu:1"), with_min("gres:gpu:1");
    for (auto* each : {&d, &with_min}) {
        each->job.deadline = kNow + 90000;
        each->job.time_limit = 1200;
        each->option("run_profile=resnet50");
    }
    ASSERT_HAS(d.take(site()).message, "--time-min=600");
    with_min.job.time_min = 600;
    ck_assert_text(with_min.take(site()).message, "");
}
END_TEST

START_TEST(what_is_refused_says_what_to_write) {
    struct Case {
        const char* gres;
        std::vector<std::string> options;
        const char* says;
    };
    const Case cases[] = {{"gres:gpu:1", {"due=never"}, "write a time"},
                          {nullptr, {"due=now+1hour"}, "add --gres=gpu:1"},
                          {"gres:gpu:1", {"late_cost=5"}, "add --due=TIME"},
                          {"gres:gpu:1", {"due=now+1hour", "gpu_share=25"}, "leave out --gres"},
                          {nullptr, {"due=now+1hour", "gpu_share=25", "gpu_range=1-2"}, "leave one out"},
                          {"gres:gpu:1", {"due=now+1hour", "run_profile=nix"}, "write one of resnet50"},
                          {"gres:gpu:1", {"due=now+1hour", "burst=maybe"}, "never, auto or only"}};
    for (const auto& c : cases) {
        Description d(c.gres);
        for (const auto& option : c.options) d.option(option);
        auto verdict = d.take(site());
        ck_assert(verdict.refused && d.untouched());
        ASSERT_HAS(verdict.message, c.says);
        ASSERT_HAS(verdict.message, "squall: ");
    }
    Description forged("gres:gpu:1");
    set_text(forged.job.admin_comment, "squall: due=1 | state=released");
    ck_assert(forged.take(site()).refused);
}
END_TEST

START_TEST(any_comment_is_refused_or_stored_whole) {
    std::mt19937 random(7);
    const std::string alphabet = "ab =:;,%|\"'\\\n\t\x01\xc3\xa9-0123456789";
    const char* words[] = {"due=now+1hour", "late-cost=3", "gpu-range=1-4", "runtime=v100:1=10h", "burst=never"};
    int kept = 0, refused = 0;
    for (int i = 0; i < 3000; ++i) {
        std::string text = i % 3 == 0 ? "" : "squall:";
        for (auto n = random() % 5; n > 0; --n) text += std::string(" ") + words[random() % 5];
        for (auto n = i % 2 ? random() % 12 : 0; n > 0; --n) text += alphabet[random() % alphabet.size()];
        Description d("gres:gpu:1");
        auto verdict = d.comment(text).take(site());
        ck_assert_text(d.job.comment, text);
        if (verdict.refused) {
            ck_assert(d.untouched());
            for (char c : verdict.message) ck_assert(static_cast<unsigned char>(c) >= 32);
            ++refused;
        } else if (verdict.parked) {
            auto stored = d.stored();
            Request again;
            ck_assert_text(parse_words(again, format_words(stored.request), 0), "");
            ck_assert(again == stored.request && again.due.has_value());
            ++kept;
        }
    }
    ck_assert(kept > 100 && refused > 100);
}
END_TEST

START_TEST(dry_run_does_not_park) {
    auto conf = site();
    conf.dry_run = true;
    Description d("gres:gpu:1");
    d.option("due=now+2hours").take(conf);
    ck_assert_int_eq(d.job.begin_time, 0);
    ck_assert_int_eq(*d.stored().request.due, kNow + 7200);
}
END_TEST

START_TEST(who_may_change_what) {
    Description forged(nullptr), other(nullptr), words(nullptr), wrong(nullptr);
    set_text(forged.job.admin_comment, "squall: due=1");
    ck_assert(take_change(site(), forged.job, false, kNow).refused);
    auto by_squalld = take_change(site(), forged.job, true, kNow);
    ck_assert(!by_squalld.refused && !by_squalld.parked);
    ck_assert(!take_change(site(), other.comment("x").job, false, kNow).parked);
    ck_assert(take_change(site(), words.comment("squall: due=now+1hour").job, false, kNow).parked);
    ck_assert(take_change(site(), wrong.comment("squall: due=x").job, true, kNow).refused);
}
END_TEST

START_TEST(a_changed_comment_keeps_the_rest) {
    Description d(nullptr);
    d.option("due=now+1hour").option("gpu_share=50").take(site());
    auto comment = d.stored();
    comment.plan["state"] = "planned";
    comment.plan["submit"] = "5";
    set_text(d.job.admin_comment, format_admin_comment(comment).c_str());
    auto changed = apply_change(site(), pending(d), "squall: due=now+3hours late-cost=4", kNow);
    ck_assert_text(changed.error, "");
    ck_assert(changed.comment && !changed.begin);
    ck_assert_int_eq(*changed.comment->request.due, kNow + 3 * 3600);
    ck_assert_int_eq(changed.comment->request.gpu_share_pct, 50);
    ck_assert(changed.comment->plan == comment.plan);
    // Seen again after squalld wrote: the same outcome.
    set_text(d.job.admin_comment, format_admin_comment(*changed.comment).c_str());
    auto again = apply_change(site(), pending(d), "squall: due=now+3hours late-cost=4", kNow);
    ck_assert(again.comment->request == changed.comment->request);
}
END_TEST

START_TEST(a_changed_comment_can_make_a_job_ours) {
    Description gpu("gres:gpu:1"), cpu(nullptr);
    auto info = pending(gpu);
    info.eligible_time = kNow + 4000;
    auto changed = apply_change(site(), info, "squall: due=now+3hours", kNow);
    ck_assert(changed.comment && changed.begin);
    ck_assert_int_eq(*changed.begin, kNow + 4000);
    ck_assert_text(changed.comment->plan.at("begin"), std::to_string(kNow + 4000));
    ck_assert(!apply_change(site(), pending(cpu), "squall: due=now+3hours", kNow).error.empty());
    info.array_job_id = 7;
    ck_assert(!apply_change(site(), info, "squall: due=now+3hours", kNow).error.empty());
    info.job_state = JOB_COMPLETE;
    auto over = apply_change(site(), info, "squall: due=now+3hours", kNow);
    ck_assert(!over.comment && over.error.empty());
}
END_TEST

}  // namespace

int main() {
    return run_suite("submission",
                     {a_due_date_parks_the_job, the_users_begin_time_is_kept, jobs_that_are_not_ours_are_left_alone,
                      a_partition_can_make_every_gpu_job_ours, slurms_deadline_is_a_hard_due_date,
                      a_deadline_with_a_long_limit_is_explained, what_is_refused_says_what_to_write,
                      any_comment_is_refused_or_stored_whole, dry_run_does_not_park, who_may_change_what,
                      a_changed_comment_keeps_the_rest, a_changed_comment_can_make_a_job_ours});
}
