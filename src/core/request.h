// SPDX-License-Identifier: GPL-3.0-or-later
// What a user asks of Squall: --due, --late-cost and so on. One parser for the SPANK options, for
// --comment="squall: …" and for what is kept in the job's AdminComment. No Slurm, no I/O; used inside
// slurmctld by job_submit_squall.so, so nothing here may block or throw.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/model.h"

namespace squall {

struct RuntimeEntry {
    std::string gpu_type;  // "" = any type
    int gpus = 1;          // total GPUs
    Seconds run_s = 0;
    bool operator==(const RuntimeEntry&) const = default;
};

struct Request {
    std::optional<Seconds> due;  // epoch
    bool hard = false;           // the due date is Slurm's --deadline: missing it ends the job
    std::optional<Micro> late_micro_h;
    std::vector<int> gpu_counts;  // from --gpu-range, ascending; empty = as asked
    int gpu_share_pct = 0;        // 1 … 99; 0 = not a small job
    std::string profile;
    std::vector<RuntimeEntry> runtimes;  // from --runtime
    bool checkpointable = false;
    Seconds checkpoint_s = 0;  // work lost when stopped; 0 = not said
    Burst burst = Burst::automatic;
    bool burst_given = false;
    std::optional<Micro> max_cost_micro;
    bool any() const;  // did the user ask for anything?
    bool operator==(const Request&) const = default;
};

// The option names without dashes ("due", "late-cost", …) with argument form and help text, in the
// order `sbatch --help` shows them. The SPANK plugin registers exactly these.
struct OptionSpec {
    const char* name;
    const char* arg;  // "TIME"; nullptr = no argument
    bool arg_optional;
    const char* help;  // one line
};
const std::vector<OptionSpec>& option_specs();

// Sets one option from its text. Returns "" or a message that names the option and value and says what
// to write. now: epoch seconds, for relative times. `value` is untrusted.
std::string set_option(Request& request, std::string_view name, std::string_view value, Seconds now);

// "due=18:00 late-cost=20 …" (after the "squall:" prefix). Unknown words and duplicates are errors. now = 0: text that
// format_words() wrote, whose due date may have passed.
std::string parse_words(Request& request, std::string_view words, Seconds now);

// A name as --profile takes it and squall.conf gives it: letters, digits, '-', '_' and '.', 1 to 64.
bool is_word(std::string_view text);

// --runtime's value, "v100:1=10h,2=5.4h;a100:1=4h" (without a type: any); also Profile= in squall.conf. Returns "" or
// what is wrong with it.
std::string parse_runtimes(std::vector<RuntimeEntry>& entries, std::string_view value);

// Canonical text, one line of printable ASCII, at most kMaxRequestText bytes: what AdminComment holds in front of
// " | ". parse_words(format_words(r)) == r.
std::string format_words(const Request& request);
inline constexpr std::size_t kMaxRequestText = 2048;

// AdminComment = "squall: <words>" [ " | <plan words>" ]. The plan part is key=value words, values
// percent-encoded: state start end config nodes where cost late rent energy why. Written by squalld, read by splan.
// Three more carry what Slurm itself forgets: begin (epoch; the user's own --begin, written by job_submit when it parks
// such a job), submit (epoch; the first submit time, the ledger's key: a requeue changes Slurm's) and since (epoch;
// when the job was released). start, end and begin are epoch seconds; cost, late, rent and energy are micro-units.
struct AdminComment {
    Request request;
    std::map<std::string, std::string> plan;  // decoded
};
std::string format_admin_comment(const AdminComment& comment);
// nullopt: not Squall's text (left alone).
std::optional<AdminComment> parse_admin_comment(std::string_view text);

}  // namespace squall
