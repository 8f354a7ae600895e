// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "src/core/amount.h"
#include "src/core/due_time.h"

namespace squall {
namespace {

constexpr std::size_t kMostShown = 60;  // of a value in a message

// Untrusted text made fit for a message: printable, short.
std::string shown(std::string_view value) {
    std::string out;
    for (char c : value.substr(0, kMostShown)) out += c >= 32 && c < 127 ? c : '?';
    return value.size() > kMostShown ? out + "…" : out;
}

std::string wrong(std::string_view name, std::string_view value, std::string_view what) {
    return fmt::format("--{}={}: {}", name, shown(value), what);
}

std::optional<int> count(std::string_view text, int most) {
    int value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < 1 || value > most)
        return {};
    return value;
}

template <typename Use>
bool each(std::string_view text, char separator, Use use) {
    while (true) {
        auto at = text.find(separator);
        if (!use(text.substr(0, at))) return false;
        if (at == text.npos) return true;
        text.remove_prefix(at + 1);
    }
}

std::string set_due(Request& r, std::string_view name, std::string_view value, Seconds now) {
    auto at = parse_due_time(value, now);
    if (!at) return wrong(name, value, fmt::format("not a time; write {}", kDueTimeForms));
    if (*at <= now) return wrong(name, value, "this time has passed; write one that is still to come");
    r.due = at;
    return "";
}

std::string set_late_cost(Request& r, std::string_view name, std::string_view value, Seconds) {
    r.late_micro_h = parse_amount_per_hour(value);
    return r.late_micro_h ? "" : wrong(name, value, "not an amount; write what an hour late costs, such as 20 or 20/h");
}

std::string set_gpu_range(Request& r, std::string_view name, std::string_view value, Seconds) {
    constexpr const char* kWant = "not a range of GPU counts; write 1-8 or 1,2,4 (from 1 to 4096)";
    std::vector<int> counts;
    bool good = each(value, ',', [&](std::string_view part) {
        auto dash = part.find('-');
        auto low = count(part.substr(0, dash), 4096);
        auto high = dash == part.npos ? low : count(part.substr(dash + 1), 4096);
        if (!low || !high || *high < *low || counts.size() > 4096) return false;
        for (int n = *low; n <= *high; ++n) counts.push_back(n);
        return true;
    });
    if (!good) return wrong(name, value, kWant);
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    if (counts.size() > 64)
        return wrong(name, value, "more than 64 different GPU counts; list those that make sense, such as 1,2,4,8");
    r.gpu_counts = counts;
    return "";
}

std::string set_gpu_share(Request& r, std::string_view name, std::string_view value, Seconds) {
    auto digits = value;
    if (!digits.empty() && digits.back() == '%') digits.remove_suffix(1);
    auto percent = count(digits, 99);
    if (!percent) return wrong(name, value, "not a share of one GPU; write 1% to 99%, such as 25%");
    r.gpu_share_pct = *percent;
    return "";
}

std::string set_profile(Request& r, std::string_view name, std::string_view value, Seconds) {
    if (!is_word(value))
        return wrong(name, value, "not a profile's name; write letters, digits, '-', '_' and '.', 64 at most");
    r.profile = value;
    return "";
}

std::string set_runtime(Request& r, std::string_view name, std::string_view value, Seconds) {
    auto error = parse_runtimes(r.runtimes, value);
    return error.empty() ? "" : wrong(name, value, error);
}

std::string set_checkpointable(Request& r, std::string_view name, std::string_view value, Seconds) {
    if (!value.empty()) {
        auto lost = parse_duration(value);
        if (!lost || *lost > 30 * kDay)
            return wrong(name, value, "not a time; write how much work a stop loses, such as 300 or 10m");
        r.checkpoint_s = *lost;
    }
    r.checkpointable = true;
    return "";
}

std::string set_burst(Request& r, std::string_view name, std::string_view value, Seconds) {
    if (value == "never")
        r.burst = Burst::never;
    else if (value == "auto")
        r.burst = Burst::automatic;
    else if (value == "only")
        r.burst = Burst::only;
    else
        return wrong(name, value, "write never, auto or only");
    r.burst_given = true;
    return "";
}

std::string set_max_cost(Request& r, std::string_view name, std::string_view value, Seconds) {
    r.max_cost_micro = parse_amount(value);
    return r.max_cost_micro ? "" : wrong(name, value, "not an amount; write the most this job may cost, such as 50");
}

struct Option {
    OptionSpec spec;
    std::string (*set)(Request&, std::string_view name, std::string_view value, Seconds now);
};

const std::vector<Option>& options() {
    static const std::vector<Option> all = {
        {{"due", "TIME", false, "when the job should be finished (forms as for --deadline)"}, set_due},
        {{"late-cost", "AMOUNT[/h]", false, "what each hour past --due costs"}, set_late_cost},
        {{"gpu-range", "COUNTS", false, "GPU counts the job can run on, such as 1-8 or 1,2,4"}, set_gpu_range},
        {{"gpu-share", "PERCENT", false, "share of one GPU a small job needs, such as 25%"}, set_gpu_share},
        {{"run-profile", "NAME", false, "run times known to the site under this name"}, set_profile},
        {{"runtime", "TIMES", false, "run times by GPU type and count: v100:1=10h,2=5.4h;a100:1=4h"}, set_runtime},
        {{"checkpointable", "SECONDS", true, "the job can be stopped and continued, losing this much work"},
         set_checkpointable},
        {{"burst", "never|auto|only", false, "whether rented nodes may be used"}, set_burst},
        {{"max-cost", "AMOUNT", false, "the most that the job may cost"}, set_max_cost},
    };
    return all;
}

bool is_option(std::string_view name) {
    return std::any_of(options().begin(), options().end(), [&](const Option& o) { return name == o.spec.name; });
}

bool set_stored_due(Request& request, std::string_view text, std::string& error) {
    Seconds due = 0;
    auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), due);
    if (failure != std::errc() || end != text.data() + text.size() || due < 1 || due >= kForever)
        return error = fmt::format("due={}: not seconds since the epoch", shown(text)), false;
    request.due = due;
    return true;
}

}  // namespace

std::string parse_runtimes(std::vector<RuntimeEntry>& entries, std::string_view value) {
    std::string error;
    std::vector<RuntimeEntry> out;
    each(value, ';', [&](std::string_view group) {
        std::string type;
        auto equal = group.find('='), colon = group.find(':');
        if (colon != group.npos && (equal == group.npos || colon < equal)) {
            type = group.substr(0, colon);
            group.remove_prefix(colon + 1);
            if (!is_word(type)) return error = "a GPU type has letters, digits, '-', '_' and '.'", false;
        }
        return each(group, ',', [&](std::string_view part) {
            auto at = part.find('=');
            auto gpus = count(part.substr(0, at), 4096);
            auto run = at == part.npos ? std::nullopt : parse_duration(part.substr(at + 1));
            if (!gpus || !run || *run < 1)
                return error = "not run times; write GPUs=TIME by type, such as v100:1=10h,2=5.4h;a100:1=4h", false;
            for (const auto& e : out)
                if (e.gpu_type == type && e.gpus == *gpus)
                    return error = fmt::format("{} GPUs are given twice", *gpus), false;
            if (out.size() >= 64) return error = "more than 64 run times", false;
            out.push_back({type, *gpus, *run});
            return true;
        });
    });
    if (error.empty()) entries = std::move(out);
    return error;
}

bool is_word(std::string_view text) {
    return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
               c == '.';
    });
}

bool Request::any() const { return !(*this == Request{}); }

const std::vector<OptionSpec>& option_specs() {
    static const std::vector<OptionSpec> specs = [] {
        std::vector<OptionSpec> out;
        for (const auto& option : options()) out.push_back(option.spec);
        return out;
    }();
    return specs;
}

std::string set_option(Request& request, std::string_view name, std::string_view value, Seconds now) {
    for (const auto& option : options())
        if (name == option.spec.name) return option.set(request, name, value, now);
    std::string known;
    for (const auto& option : options()) known += fmt::format("{}{}", known.empty() ? "" : ", ", option.spec.name);
    return fmt::format("\"{}\" is not an option of Squall; write one of {}", shown(name), known);
}

std::string parse_words(Request& request, std::string_view words, Seconds now) {
    bool stored = now == 0;
    std::vector<std::string_view> seen;
    std::string error;
    auto take = [&](std::string_view word) {
        if (word.empty()) return true;
        auto equal = word.find('=');
        auto name = word.substr(0, equal);
        auto value = equal == word.npos ? std::string_view() : word.substr(equal + 1);
        if (std::find(seen.begin(), seen.end(), name) != seen.end())
            return error = fmt::format("{} is given twice", shown(name)), false;
        seen.push_back(name);
        if (stored && word == "hard") return request.hard = true;
        // Stored text is not refused for a due date that has passed since.
        if (stored && name == "due") return set_stored_due(request, value, error);
        if (equal == word.npos && name != "checkpointable" && is_option(name))
            return error = fmt::format("\"{}\" has no value; write {}=VALUE", shown(word), shown(name)), false;
        error = set_option(request, name, value, now);
        return error.empty();
    };
    while (!words.empty() && error.empty()) {
        auto end = words.find_first_of(" \t\r\n");
        take(words.substr(0, end));
        words.remove_prefix(end == words.npos ? words.size() : end + 1);
    }
    return error;
}

std::string format_words(const Request& r) {
    std::string out;
    auto add = [&](const std::string& word) { out += (out.empty() ? "" : " ") + word; };
    if (r.due) add(fmt::format("due={}", *r.due));
    if (r.hard) add("hard");
    if (r.late_micro_h) add(fmt::format("late-cost={}", format_amount_exact(*r.late_micro_h)));
    if (!r.gpu_counts.empty()) add(fmt::format("gpu-range={}", fmt::join(r.gpu_counts, ",")));
    if (r.gpu_share_pct > 0) add(fmt::format("gpu-share={}%", r.gpu_share_pct));
    if (!r.profile.empty()) add("run-profile=" + r.profile);
    std::string runtimes;
    for (std::size_t i = 0; i < r.runtimes.size(); ++i) {
        const auto& e = r.runtimes[i];
        bool same = i > 0 && r.runtimes[i - 1].gpu_type == e.gpu_type;
        if (i > 0) runtimes += same ? "," : ";";
        if (!same && !e.gpu_type.empty()) runtimes += e.gpu_type + ":";
        runtimes += fmt::format("{}={}", e.gpus, e.run_s);
    }
    if (!runtimes.empty()) add("runtime=" + runtimes);
    if (r.checkpointable) add(r.checkpoint_s > 0 ? fmt::format("checkpointable={}", r.checkpoint_s) : "checkpointable");
    if (r.burst_given)
        add(fmt::format("burst={}", r.burst == Burst::never ? "never" : r.burst == Burst::only ? "only" : "auto"));
    if (r.max_cost_micro) add(fmt::format("max-cost={}", format_amount_exact(*r.max_cost_micro)));
    return out;
}

}  // namespace squall
