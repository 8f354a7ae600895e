// SPDX-License-Identifier: GPL-3.0-or-later
// Both directions walk the same list of fields (instance_fields.h), so a field cannot be written and not read.
#include "src/core/instance_json.h"

#include <fmt/format.h>
#include <jansson.h>

#include <memory>
#include <stdexcept>

#include "src/core/instance_fields.h"

namespace squall {
namespace {

struct JsonDeleter {
    void operator()(json_t* j) const { json_decref(j); }
};
using Json = std::unique_ptr<json_t, JsonDeleter>;

// ---- writing: each visit appends the field to the open object, unless it has its default value ----
class Writer {
  public:
    explicit Writer(json_t* object) : object_(object) {}

    void field(const char* name, std::string& v) {
        if (!v.empty()) json_object_set_new(object_, name, json_string(v.c_str()));
    }
    void field(const char* name, bool& v) {
        if (v) json_object_set_new(object_, name, json_true());
    }
    template <typename Int>
    requires std::is_integral_v<Int>
    void field(const char* name, Int& v, Range) {
        json_object_set_new(object_, name, json_integer(static_cast<json_int_t>(v)));
    }
    template <typename Int>
    void field(const char* name, std::optional<Int>& v, Range range) {
        if (v) field(name, *v, range);
    }
    template <typename Enum>
    void choice(const char* name, Enum& v, const std::vector<const char*>& names) {
        json_object_set_new(object_, name, json_string(names[static_cast<int>(v)]));
    }
    void list(const char* name, std::vector<int>& v, Range) {
        if (v.empty()) return;
        json_t* array = json_array();
        for (int i : v) json_array_append_new(array, json_integer(i));
        json_object_set_new(object_, name, array);
    }
    template <typename T>
    void list(const char* name, std::vector<T>& v) {
        if (v.empty()) return;
        json_t* array = json_array();
        for (T& item : v) {
            json_t* object = json_object();
            Writer writer(object);
            visit(writer, item);
            json_array_append_new(array, object);
        }
        json_object_set_new(object_, name, array);
    }
    template <typename T>
    void object(const char* name, std::optional<T>& v) {
        if (!v) return;
        json_t* object = json_object();
        Writer writer(object);
        visit(writer, *v);
        json_object_set_new(object_, name, object);
    }

  private:
    json_t* object_;
};

// ---- reading: throws std::runtime_error with the path of the field; caught below ----
class Reader {
  public:
    Reader(json_t* object, std::string path) : object_(object), path_(std::move(path)) {
        if (!json_is_object(object_)) throw std::runtime_error(path_ + " is not an object");
    }

    void field(const char* name, std::string& v) {
        if (json_t* j = get(name)) {
            if (!json_is_string(j)) bad(name, "a text");
            v = json_string_value(j);
        }
    }
    void field(const char* name, bool& v) {
        if (json_t* j = get(name)) {
            if (!json_is_boolean(j)) bad(name, "true or false");
            v = json_is_true(j);
        }
    }
    template <typename Int>
    requires std::is_integral_v<Int>
    void field(const char* name, Int& v, Range range) {
        if (json_t* j = get(name)) v = static_cast<Int>(integer(name, j, range));
    }
    template <typename Int>
    void field(const char* name, std::optional<Int>& v, Range range) {
        if (json_t* j = get(name)) v = static_cast<Int>(integer(name, j, range));
    }
    template <typename Enum>
    void choice(const char* name, Enum& v, const std::vector<const char*>& names) {
        std::string text;
        field(name, text);
        if (text.empty()) return;
        for (std::size_t i = 0; i < names.size(); ++i)
            if (text == names[i]) {
                v = static_cast<Enum>(i);
                return;
            }
        std::string accepted;
        for (const char* n : names) accepted += (accepted.empty() ? "" : ", ") + std::string(n);
        bad(name, "one of " + accepted);
    }
    void list(const char* name, std::vector<int>& v, Range range) {
        json_t* j = array(name);
        for (std::size_t i = 0; i < json_array_size(j); ++i)
            v.push_back(static_cast<int>(integer(fmt::format("{}[{}]", name, i).c_str(), json_array_get(j, i), range)));
    }
    template <typename T>
    void list(const char* name, std::vector<T>& v) {
        json_t* j = array(name);
        for (std::size_t i = 0; i < json_array_size(j); ++i) {
            Reader reader(json_array_get(j, i), fmt::format("{}{}[{}]", path_.empty() ? "" : path_ + ".", name, i));
            visit(reader, v.emplace_back());
        }
    }
    template <typename T>
    void object(const char* name, std::optional<T>& v) {
        if (json_t* j = get(name)) {
            Reader reader(j, path_ + "." + name);
            visit(reader, v.emplace());
        }
    }

  private:
    json_t* get(const char* name) const {
        json_t* j = json_object_get(object_, name);
        return json_is_null(j) ? nullptr : j;
    }
    json_t* array(const char* name) const {
        json_t* j = get(name);
        if (j && !json_is_array(j)) bad(name, "a list");
        return j;
    }
    [[noreturn]] void bad(const std::string& name, const std::string& want) const {
        throw std::runtime_error(fmt::format("{}{} must be {}", path_.empty() ? "" : path_ + ".", name, want));
    }
    std::int64_t integer(const char* name, json_t* j, Range range) const {
        std::int64_t v = json_is_integer(j) ? json_integer_value(j) : range.least - 1;
        if (!json_is_integer(j) || v < range.least || v > range.most)
            bad(name, fmt::format("a whole number from {} to {}", range.least, range.most));
        return v;
    }
    json_t* object_;
    std::string path_;
};

[[noreturn]] void wrong(const std::string& text) { throw std::runtime_error(text); }

void check_index(int index, std::size_t size, const std::string& what) {
    if (index < 0 || index >= static_cast<int>(size))
        wrong(fmt::format("{} is {}, but there are {}", what, index, size));
}

void check_config(const Snapshot& s, const Config& config, const std::string& where) {
    check_index(config.class_id, s.classes.size(), where + ".class_id");
    const auto& c = s.classes[config.class_id];
    if ((config.gpus > 0) == (config.shards > 0)) wrong(where + " needs either gpus or shards");
    if (config.shards > 0 && config.nodes != 1) wrong(where + ": shards are of one node");
    if (config.gpus > c.gpus || config.shards > c.shards_per_gpu)
        wrong(fmt::format("{} asks for more than a node of class {} has", where, c.name));
}

void check_references(const Snapshot& s) {
    for (std::size_t i = 0; i < s.nodes.size(); ++i)
        check_index(s.nodes[i].class_id, s.classes.size(), fmt::format("nodes[{}].class_id", i));
    for (std::size_t i = 0; i < s.groups.size(); ++i)
        for (int c : s.groups[i].class_ids) check_index(c, s.classes.size(), fmt::format("groups[{}].class_ids", i));
    for (std::size_t i = 0; i < s.holds.size(); ++i) {
        check_index(s.holds[i].node, s.nodes.size(), fmt::format("holds[{}].node", i));
        if (s.holds[i].job >= 0) check_index(s.holds[i].job, s.jobs.size(), fmt::format("holds[{}].job", i));
        if (s.holds[i].end < s.holds[i].start) wrong(fmt::format("holds[{}] ends before it starts", i));
    }
    for (std::size_t i = 0; i < s.jobs.size(); ++i) {
        const auto& job = s.jobs[i];
        for (std::size_t k = 0; k < job.configs.size(); ++k)
            check_config(s, job.configs[k], fmt::format("jobs[{}].configs[{}]", i, k));
        if (job.running)
            check_index(job.running->config, job.configs.size(), fmt::format("jobs[{}].running.config", i));
        if (job.running)
            for (int n : job.running->nodes) check_index(n, s.nodes.size(), fmt::format("jobs[{}].running.nodes", i));
        if (job.pinned_config)
            check_index(*job.pinned_config, job.configs.size(), fmt::format("jobs[{}].pinned_config", i));
        for (int n : job.pinned_nodes) check_index(n, s.nodes.size(), fmt::format("jobs[{}].pinned_nodes", i));
    }
}

}  // namespace

std::string snapshot_to_json(const Snapshot& snapshot) {
    Json root(json_object());
    Snapshot copy = snapshot;  // visitors take references for both directions
    Writer writer(root.get());
    visit(writer, copy);
    std::unique_ptr<char, void (*)(void*)> text(json_dumps(root.get(), JSON_COMPACT | JSON_PRESERVE_ORDER), free);
    return std::string(text ? text.get() : "{}") + "\n";
}

SnapshotResult snapshot_from_json(const std::string& text, const std::string& name) {
    SnapshotResult result;
    json_error_t error;
    Json root(json_loadb(text.data(), text.size(), JSON_REJECT_DUPLICATES, &error));
    if (!root) {
        result.error = fmt::format("{}:{}: {}", name, error.line, error.text);
        return result;
    }
    try {
        Reader reader(root.get(), "");
        visit(reader, result.snapshot);
        check_references(result.snapshot);
    } catch (const std::runtime_error& e) {
        result.error = fmt::format("{}: {}", name, e.what());
    }
    return result;
}

}  // namespace squall
