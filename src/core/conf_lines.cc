// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/conf_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace squall {
namespace {

constexpr std::size_t kLongestLine = 65536;
constexpr int kDeepestInclude = 8;

bool same_word(const std::string& a, const char* b) { return strcasecmp(a.c_str(), b) == 0; }

class LineReader {
  public:
    ConfLines out;

    void read(const std::string& path, const std::string& from, int depth) {
        auto where = from.empty() ? path : from;
        if (depth > kDeepestInclude)
            return fail(fmt::format("{}: Include={}: more than {} files deep; do they include each other?", where, path,
                                    kDeepestInclude));
        std::ifstream in(path);
        if (!in) return fail(fmt::format("{}: cannot read {}: {}", where, path, strerror(errno)));
        std::string text, whole;
        int number = 0, first = 0;
        while (std::getline(in, text)) {
            ++number;
            if (whole.empty()) first = number;
            if (!text.empty() && text.back() == '\r') text.pop_back();
            bool goes_on = !text.empty() && text.back() == '\\';
            if (goes_on) text.pop_back();
            whole += text;
            if (whole.size() > kLongestLine) {
                fail(fmt::format("{}:{}: a line of more than {} characters", path, first, kLongestLine));
                whole.clear();
                continue;
            }
            if (goes_on) {
                whole += ' ';
                continue;
            }
            take(path, first, whole, depth);
            whole.clear();
        }
        if (!whole.empty()) take(path, first, whole, depth);
    }

  private:
    void fail(std::string text) { out.errors.push_back(std::move(text)); }

    void take(const std::string& path, int number, std::string text, int depth) {
        if (text.find('\0') != text.npos)
            return fail(fmt::format("{}:{}: a NUL byte; is this a text file?", path, number));
        if (auto hash = comment_at(text); hash != text.npos) text.resize(hash);
        ConfLine line{path, number, {}};
        std::size_t at = 0;
        while (true) {
            at = text.find_first_not_of(" \t", at);
            if (at == text.npos) break;
            auto end = token_end(text, at);
            auto token = text.substr(at, end - at);
            at = end;
            auto equal = token.find('=');
            if (equal == token.npos) {  // "Include file" as slurm.conf writes it
                if (same_word(token, "Include")) {
                    at = text.find_first_not_of(" \t", at);
                    auto name = at == text.npos ? "" : text.substr(at, text.find_first_of(" \t", at) - at);
                    return include(path, number, name, depth);
                }
                return fail(fmt::format("{}:{}: {}: not Key=Value", path, number, token.substr(0, 60)));
            }
            auto value = token.substr(equal + 1);
            if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
                value = value.substr(1, value.size() - 2);
            line.tokens.push_back({token.substr(0, equal), value});
        }
        if (line.tokens.empty()) return;
        if (same_word(line.tokens.front().key, "Include"))
            return include(path, number, line.tokens.front().value, depth);
        out.lines.push_back(std::move(line));
    }

    void include(const std::string& path, int number, const std::string& name, int depth) {
        if (name.empty()) return fail(fmt::format("{}:{}: Include: name the file", path, number));
        auto slash = path.rfind('/');
        auto full = name.front() == '/' || slash == path.npos ? name : path.substr(0, slash + 1) + name;
        read(full, fmt::format("{}:{}", path, number), depth + 1);
    }

    static std::size_t comment_at(const std::string& text) {
        bool quoted = false;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '"') quoted = !quoted;
            if (text[i] == '#' && !quoted) return i;
        }
        return text.npos;
    }

    static std::size_t token_end(const std::string& text, std::size_t at) {
        bool quoted = false;
        for (; at < text.size(); ++at) {
            if (text[at] == '"') quoted = !quoted;
            if ((text[at] == ' ' || text[at] == '\t') && !quoted) break;
        }
        return at;
    }
};

}  // namespace

ConfLines read_conf_lines(const std::string& path) {
    LineReader reader;
    reader.read(path, "", 0);
    return std::move(reader.out);
}

}  // namespace squall
