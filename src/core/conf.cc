// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/conf.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "src/core/conf_keys.h"
#include "src/core/conf_lines.h"

namespace squall {
namespace {

bool same_word(const std::string& a, const std::string& b) { return strcasecmp(a.c_str(), b.c_str()) == 0; }

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
        auto lines = read_conf_lines(path);
        result.errors = std::move(lines.errors);
        for (const auto& line : lines.lines) take(line);
        check_classes();
        check_partitions();
    }

  private:
    void fail(const ConfLine& line, const ConfToken& token, const std::string& what) {
        result.errors.push_back(
            fmt::format("{}:{}: {}={}: {}", line.file, line.line, token.key, token.value.substr(0, 80), what));
    }

    void take(const ConfLine& line) {
        const auto& first = line.tokens.front();
        if (same_word(first.key, "NodeClass")) return take_class(line);
        if (same_word(first.key, "Partition")) return take_named(line, result.conf.partitions, partition_keys());
        if (same_word(first.key, "Profile")) return take_named(line, result.conf.profiles, profile_keys());
        if (same_word(first.key, "CapacityGroup")) return take_named(line, result.conf.groups, group_keys());
        for (const auto& token : line.tokens) {
            const auto* key = find_key(global_keys(), token.key);
            if (!key) {
                std::vector<std::string> known{"NodeClass", "Partition", "Profile", "CapacityGroup", "Include"};
                for (const auto& k : global_keys()) known.emplace_back(k.name);
                fail(line, token, fmt::format("no such key; did you mean {}?", nearest_word(token.key, known)));
                continue;
            }
            if (!seen_.insert(key->name).second) fail(line, token, "given twice; keep one");
            if (auto want = key->set(result.conf, token.value); !want.empty()) fail(line, token, "write " + want);
        }
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
                     fmt::format("no such key of {}; did you mean {}?", line.tokens.front().key,
                                 nearest_word(token.key, known)));
                continue;
            }
            if (!seen.insert(key->name).second) fail(line, token, "given twice on this line; keep one");
            if (auto want = key->set(item, token.value); !want.empty()) fail(line, token, "write " + want);
        }
    }

    template <typename T>
    bool is_new(const ConfLine& line, const std::vector<T>& items) {
        const auto& first = line.tokens.front();
        if (first.value.empty()) return fail(line, first, "give it a name"), false;
        for (const auto& item : items)
            if (item.name == first.value) return fail(line, first, "defined before; keep one"), false;
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

    void take_class(const ConfLine& given) {
        const auto& first = given.tokens.front();
        for (const auto& c : result.conf.classes)
            if (c.spec.name == first.value) return fail(given, first, "defined before; keep one");
        if (first.value.empty()) return fail(given, first, "give it a name");
        NodeClassConf c;
        c.spec.name = first.value;
        c.line = given.line;
        ConfLine line = given;
        std::erase_if(line.tokens, [&](const ConfToken& token) {  // Driver.Key=Value is the driver's
            if (strncasecmp(token.key.c_str(), "Driver.", 7) != 0) return false;
            c.driver_options[token.key.substr(7)] = token.value;
            return true;
        });
        set_rest(line, c, node_class_keys());
        auto need = [&](bool good, const char* what) {
            if (!good) fail(given, first, what);
        };
        bool names_nodes = std::any_of(line.tokens.begin(), line.tokens.end(),
                                       [](const auto& t) { return same_word(t.key, "Nodes"); });
        need(names_nodes, "its nodes are missing; write Nodes=n[1-4]");
        bool names_price = std::any_of(line.tokens.begin(), line.tokens.end(),
                                       [](const auto& t) { return same_word(t.key, "Price"); });
        need(!c.spec.rented || names_price, "a rented class needs its price per node and hour; write Price=3.06");
        need(c.spec.rented || c.spec.price_micro_h == 0,
             "Price= is for rented classes; write Rented=yes or leave it out");
        need(!c.spec.rented || c.spec.busy_watts.empty(), "BusyWatts= is for local classes; leave it out");
        need(c.spec.busy_watts.empty() || c.spec.idle_watts <= c.spec.busy_watts.front(),
             "IdleWatts= is above the first of BusyWatts=");
        need(c.spec.rented || c.driver.empty(), "Driver= is for rented classes; write Rented=yes or leave it out");
        for (const auto& node : c.nodes)
            if (!nodes_.insert(node).second) fail(given, first, fmt::format("node {} is in two classes", node));
        result.conf.classes.push_back(std::move(c));
    }

    void check_classes() {
        for (const auto& group : result.conf.groups) {
            auto line = std::find_if(lines_.begin(), lines_.end(), [&](const ConfLine& l) {
                return same_word(l.tokens.front().key, "CapacityGroup") && l.tokens.front().value == group.name;
            });
            if (group.classes.empty() || group.max_nodes == 0)
                fail(*line, line->tokens.front(), "write Classes=A,B and MaxNodes=N");
            for (const auto& name : group.classes) {
                bool known = std::any_of(result.conf.classes.begin(), result.conf.classes.end(),
                                         [&](const auto& c) { return c.spec.name == name; });
                if (!known)
                    fail(*line, line->tokens.front(), fmt::format("Classes= names {}, which is no NodeClass", name));
            }
        }
    }

    void check_partitions() {
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

    std::set<std::string> seen_, nodes_;
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
