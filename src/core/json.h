// SPDX-License-Identifier: GPL-3.0-or-later
// RAII for jansson and the few ways our files are read: a value that closes itself, fields with a fallback, files with
// an error that names them. Header only; any thread.
#pragma once
#include <jansson.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

namespace squall {

struct JsonFree {
    void operator()(json_t* value) const { json_decref(value); }
};
using Json = std::unique_ptr<json_t, JsonFree>;

// Null and *error ("PATH:LINE: what is wrong") when the file is missing or not JSON.
inline Json json_read(const std::string& path, std::string* error) {
    json_error_t problem;
    Json value(json_load_file(path.c_str(), 0, &problem));
    if (!value) *error = path + ":" + std::to_string(problem.line) + ": " + problem.text;
    return value;
}

// fallback: the field is missing or of another type.
inline std::string json_text(const json_t* object, const char* key, const std::string& fallback = "") {
    const json_t* value = json_object_get(object, key);
    return json_is_string(value) ? std::string(json_string_value(value), json_string_length(value)) : fallback;
}
inline std::int64_t json_integer(const json_t* object, const char* key, std::int64_t fallback = 0) {
    const json_t* value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : fallback;
}

inline std::string json_format(const json_t* value, std::size_t flags) {
    std::unique_ptr<char, void (*)(void*)> text(json_dumps(value, flags), std::free);
    return text ? text.get() : "";
}

}  // namespace squall
