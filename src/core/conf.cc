// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/conf.h"

#include <fmt/format.h>
#include <strings.h>
#include <sys/un.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <type_traits>

#include "src/core/conf_keys.h"
#include "src/core/conf_lines.h"

namespace squall {
namespace {

constexpr std::size_t kMostErrors = 50;  // a wrong file shall not flood slurmctld.log
constexpr std::size_t kLongestSocket = sizeof(sockaddr_un::sun_path) - 1;

bool same_word(const std::string& a, const std::string& b) { return strcasecmp(a.c_str(), b.c_str()) == 0; }

// Cut for a message, between UTF-8 characters.
std::string shortened(const std::string& text, std::size_t most) {
    if (text.size() <= most) return text;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
    return text.substr(0, most) + "…";
}

std::string did_you_mean(const std::string& written, const std::vector<std::string>& known) {
    auto nearest = nearest_word(written, known);
    if (!nearest.empty()) return "did you mean " + nearest + "?";
    std::string all;
    for (const auto& word : known) all += (all.empty() ? "" : ", ") + word;
    return "write one of " + all;
}

template <typename T>
const ConfKey<T>* find_key(const std::vector<ConfKey<T>>& keys, const std::string& name) {
    auto at = std::find_if(keys.begin(), keys.end(), [&](const auto& key) { return same_word(name, key.name); });
    return at == keys.end() ? nullptr : &*at;
}

class ConfReader {
  public:
    ConfResult result;

    explicit ConfReader(const std::string& path) {
        result.conf.path = path;
        result.conf.program_dir = SQUALL_PROGRAMDIR;
        result.conf.price_dir = SQUALL_PRICEDIR;
        auto lines = read_conf_lines(path);
        result.errors = std::move(lines.errors);
        for (const auto& line : lines.lines) take(line);
        check_groups();
        check_offers();
        check_partitions();
        check_globals();
        if (result.errors.size() > kMostErrors) {
            result.errors.resize(kMostErrors);
            result.errors.push_back(path + ": and more errors like these");
        }
    }

  private:
    void fail(const ConfLine& line, const ConfToken& token, const std::string& what) {
        if (result.errors.size() > kMostErrors) return;
        result.errors.push_back(message(line, token, what));
    }

    void warn(const ConfLine& line, const ConfToken& token, const std::string& what) {
        result.warnings.push_back(message(line, token, what));
    }

    static std::string message(const ConfLine& line, const ConfToken& token, const std::string& what) {
        return fmt::format("{}:{}: {}={}: {}", line.file, line.line, shortened(token.key, 60),
                           shortened(token.value, 80), what);
    }

    void take(const ConfLine& line) {
        const auto& first = line.tokens.front();
        if (same_word(first.key, "NodeClass")) return take_class(line);
        if (same_word(first.key, "Partition")) return take_named(line, result.conf.partitions, partition_keys());
        if (same_word(first.key, "Profile")) return take_named(line, result.conf.profiles, profile_keys());
        if (same_word(first.key, "CapacityGroup")) return take_named(line, result.conf.groups, group_keys());
        if (same_word(first.key, "Account")) return take_named(line, result.conf.accounts, account_keys());
        if (same_word(first.key, "Offer")) return take_offer(line);
        for (const auto& token : line.tokens) take_global(line, token);
    }

    void take_global(const ConfLine& line, const ConfToken& token) {
        for (const char* opener : {"NodeClass", "Partition", "Profile", "CapacityGroup", "Offer", "Account"})
            if (same_word(token.key, opener)) return fail(line, token, "it begins a line of its own");
        const auto* key = find_key(global_keys(), token.key);
        if (!key) {
            std::vector<std::string> known{"NodeClass", "Partition", "Profile", "CapacityGroup",
                                           "Offer",     "Account",   "Include"};
            for (const auto& k : global_keys()) known.emplace_back(k.name);
            return fail(line, token, "no such key; " + did_you_mean(token.key, known));
        }
        if (!globals_.emplace(key->name, std::pair(line, token)).second) fail(line, token, "given twice; keep one");
        if (auto want = key->set(result.conf, token.value); !want.empty()) fail(line, token, "write " + want);
    }

    template <typename T>
    void set_rest(const ConfLine& line, T& item, const std::vector<ConfKey<T>>& keys) {
        std::set<std::string> seen;
        for (std::size_t i = 1; i < line.tokens.size(); ++i) {
            const auto& token = line.tokens[i];
            const auto* key = find_key(keys, token.key);
            if (!key) {
                std::vector<std::string> known;
                for (const auto& k : keys) known.emplace_back(k.name);
                fail(line, token,
                     fmt::format("no such key of {}; {}", line.tokens.front().key, did_you_mean(token.key, known)));
                continue;
            }
            if (!seen.insert(key->name).second) fail(line, token, "given twice on this line; keep one");
            if (auto want = key->set(item, token.value); !want.empty()) fail(line, token, "write " + want);
        }
    }

    template <typename T>
    static const std::string& name_of(const T& item) {
        if constexpr (std::is_same_v<T, NodeClassConf>)
            return item.spec.name;
        else
            return item.name;
    }

    template <typename T>
    bool is_new(const ConfLine& line, const std::vector<T>& items) {
        const auto& first = line.tokens.front();
        bool slurms = (std::is_same_v<T, PartitionConf> || std::is_same_v<T, AccountConf>)&&!first.value.empty() &&
                      first.value.find_first_of(" ,\"'") == std::string::npos;
        if (!slurms && !is_word(first.value))
            return fail(line, first, "give it a name of letters, digits, '-', '_' and '.', 64 at most"), false;
        for (const auto& item : items)
            if (name_of(item) == first.value) return fail(line, first, "defined before; keep one"), false;
        return true;
    }

    template <typename T>
    void take_named(const ConfLine& line, std::vector<T>& items, const std::vector<ConfKey<T>>& keys) {
        if (!is_new(line, items)) return;
        T item;
        item.name = line.tokens.front().value;
        set_rest(line, item, keys);
        items.push_back(std::move(item));
        lines_.push_back(line);
    }

    // Driver.Key=Value is the driver's: taken out of the line.
    ConfLine take_driver_options(const ConfLine& given, std::map<std::string, std::string>& options) {
        ConfLine line = given;
        std::erase_if(line.tokens, [&](const ConfToken& token) {
            if (strncasecmp(token.key.c_str(), "Driver.", 7) != 0) return false;
            if (!options.emplace(token.key.substr(7), token.value).second)
                fail(given, token, "given twice on this line; keep one");
            return true;
        });
        return line;
    }

    void take_offer(const ConfLine& given) {
        if (!is_new(given, result.conf.offers)) return;
        OfferConf offer;
        offer.name = given.tokens.front().value;
        offer.line = given.line;
        set_rest(take_driver_options(given, offer.driver_options), offer, offer_keys());
        result.conf.offers.push_back(std::move(offer));
        lines_.push_back(given);
    }

    void check_offers() {
        for (const auto& line : lines_) {
            const auto& first = line.tokens.front();
            if (!same_word(first.key, "Offer")) continue;
            const auto& offer = *std::find_if(result.conf.offers.begin(), result.conf.offers.end(),
                                              [&](const auto& o) { return o.name == first.value; });
            bool known = std::any_of(result.conf.classes.begin(), result.conf.classes.end(),
                                     [&](const auto& c) { return c.spec.rented && c.spec.name == offer.class_name; });
            if (offer.class_name.empty())
                fail(line, first, "its class is missing; write Class=NAME");
            else if (!known)
                fail(line, first, fmt::format("Class={} is no rented NodeClass", offer.class_name));
        }
    }

    void take_class(const ConfLine& given) {
        if (!is_new(given, result.conf.classes)) return;
        const auto& first = given.tokens.front();
        NodeClassConf c;
        c.spec.name = first.value;
        c.line = given.line;
        ConfLine line = take_driver_options(given, c.driver_options);
        set_rest(line, c, node_class_keys());
        check_class(line, c);
        for (const auto& node : c.nodes)
            if (!nodes_.insert(node).second) fail(given, first, fmt::format("node {} is in two classes", node));
        result.conf.classes.push_back(std::move(c));
    }

    void check_class(const ConfLine& line, const NodeClassConf& c) {
        const auto& first = line.tokens.front();
        auto names = [&](const char* key) {
            return std::any_of(line.tokens.begin(), line.tokens.end(),
                               [&](const auto& token) { return same_word(token.key, key); });
        };
        if (!names("Nodes")) fail(line, first, "its nodes are missing; write Nodes=n[1-4]");
        if (c.spec.rented && !names("Price"))
            fail(line, first, "a rented class needs its price per node and hour; write Price=3.06");
        for (const auto& token : line.tokens) {
            bool of_rented = false, of_local = false;
            for (const char* key :
                 {"Price", "BillingStep", "BillingMin", "BootTime", "ReleaseTime", "Interruptions", "Driver"})
                of_rented = of_rented || same_word(token.key, key);
            for (const char* key : {"IdleWatts", "BusyWatts", "Tariff", "PUE", "PowerDown"})
                of_local = of_local || same_word(token.key, key);
            if (of_rented && !c.spec.rented)
                fail(line, token, "is for rented classes; write Rented=yes or leave it out");
            if (of_local && c.spec.rented) fail(line, token, "is for local classes; leave it out");
        }
        if (!c.spec.rented && !c.driver_options.empty())
            fail(line, first, "Driver.…= is for rented classes; write Rented=yes or leave it out");
        if (!c.spec.busy_watts.empty() && c.spec.idle_watts > c.spec.busy_watts.front())
            fail(line, first, "IdleWatts= is above the first of BusyWatts=");
    }

    void check_groups() {
        for (const auto& line : lines_) {
            const auto& first = line.tokens.front();
            if (!same_word(first.key, "CapacityGroup")) continue;
            const auto& group = *std::find_if(result.conf.groups.begin(), result.conf.groups.end(),
                                              [&](const auto& g) { return g.name == first.value; });
            if (group.classes.empty() || group.max_nodes == 0) fail(line, first, "write Classes=A,B and MaxNodes=N");
            std::set<std::string> seen;
            for (const auto& name : group.classes) {
                bool known = std::any_of(result.conf.classes.begin(), result.conf.classes.end(),
                                         [&](const auto& c) { return c.spec.name == name; });
                if (!known) fail(line, first, fmt::format("Classes= names {}, which is no NodeClass", name));
                if (!seen.insert(name).second) fail(line, first, fmt::format("Classes= names {} twice", name));
            }
        }
    }

    void check_globals() {
        auto at = globals_.find("StateDir");
        if (at != globals_.end() && result.conf.poke_socket().size() > kLongestSocket)
            fail(at->second.first, at->second.second,
                 fmt::format("too long for the sockets below it; write at most {} characters",
                             kLongestSocket - (result.conf.poke_socket().size() - result.conf.state_dir.size())));
        at = globals_.find("DeadManTime");
        if (at != globals_.end() && result.conf.dead_man_s < 2 * result.conf.interval_s)
            warn(at->second.first, at->second.second,
                 fmt::format("less than two cycles (Interval={}): parked jobs may be released while all is well",
                             result.conf.interval_s));
    }

    void check_partitions() {
        for (const auto& line : lines_)
            if (same_word(line.tokens.front().key, "Profile") && line.tokens.size() < 2)
                fail(line, line.tokens.front(), "its run times are missing; write Runtime=v100:1=10h,2=5.4h");
        bool rented = std::any_of(result.conf.classes.begin(), result.conf.classes.end(),
                                  [](const auto& c) { return c.spec.rented; });
        bool bursts = std::any_of(result.conf.partitions.begin(), result.conf.partitions.end(),
                                  [](const auto& p) { return !p.burst_to.empty(); });
        if (bursts && !rented)
            result.warnings.push_back(fmt::format("{}: BurstTo= is set but no NodeClass is rented", result.conf.path));
        if (result.errors.empty() && result.conf.classes.empty())
            result.warnings.push_back(
                fmt::format("{}: no NodeClass; GPU nodes are planned without prices or energy", result.conf.path));
    }

    std::map<std::string, std::pair<ConfLine, ConfToken>> globals_;  // where each was given
    std::set<std::string> nodes_;
    std::vector<ConfLine> lines_;
};

}  // namespace

const PartitionConf* Conf::partition(const std::string& name) const {
    auto at = std::find_if(partitions.begin(), partitions.end(), [&](const auto& p) { return p.name == name; });
    return at == partitions.end() ? nullptr : &*at;
}

ConfResult read_conf(const std::string& path) { return std::move(ConfReader(path).result); }

std::string find_conf(const std::string& argument) {
    if (!argument.empty()) return argument;
    if (const char* path = getenv("SQUALL_CONF"); path && *path) return path;
    if (const char* path = getenv("SLURM_CONF"); path && *path) {
        std::string slurm_conf(path);
        return slurm_conf.substr(0, slurm_conf.rfind('/') + 1) + "squall.conf";
    }
    return SQUALL_SYSCONFDIR "/squall.conf";
}

}  // namespace squall
