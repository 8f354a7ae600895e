// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/conf_lines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "src/core/daemon.h"

namespace squall {
namespace {

constexpr std::size_t kLongestLine = 65536;
constexpr off_t kLargestFile = 1 << 20;
constexpr int kMostFiles = 64;
constexpr std::size_t kMostErrors = 1000;

bool same_word(const std::string& a, const char* b) { return strcasecmp(a.c_str(), b) == 0; }

using FileId = std::pair<dev_t, ino_t>;

// "" or why not. Only regular files of a sane size: slurmctld must not wait for a FIFO or swallow a device.
std::string load(const std::string& path, std::string& text, FileId& id) {
    Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat about {};
    if (!file || fstat(file.get(), &about) != 0) return strerror(errno);
    if (!S_ISREG(about.st_mode)) return S_ISDIR(about.st_mode) ? "it is a directory" : "it is no regular file";
    if (about.st_size > kLargestFile) return fmt::format("more than {} bytes; is this the right file?", kLargestFile);
    id = {about.st_dev, about.st_ino};
    text.resize(static_cast<std::size_t>(about.st_size));
    std::size_t have = 0;
    while (have < text.size()) {
        ssize_t got = read(file.get(), text.data() + have, text.size() - have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return strerror(errno);
        if (got == 0) break;
        have += static_cast<std::size_t>(got);
    }
    text.resize(have);
    return "";
}

// How many bytes follow a UTF-8 sequence's first; -1: it begins none.
int bytes_after(unsigned char c) {
    if (c < 0x80) return 0;
    if (c >= 0xC2 && c < 0xE0) return 1;
    if (c >= 0xE0 && c < 0xF0) return 2;
    return c >= 0xF0 && c < 0xF5 ? 3 : -1;
}

// "" or what no text file of ours holds.
std::string not_text(const std::string& line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
        auto c = static_cast<unsigned char>(line[i]);
        if (c == 0) return "a NUL byte; is this a text file?";
        if ((c < 32 && c != '\t') || c == 127)
            return fmt::format("a control character (0x{:02X}); is this a text file?", c);
        for (int more = bytes_after(c); more != 0; --more) {
            if (more < 0 || ++i >= line.size() || (static_cast<unsigned char>(line[i]) & 0xC0) != 0x80)
                return "not UTF-8; convert the file, or write ASCII";
        }
    }
    return "";
}

class LineReader {
  public:
    ConfLines out;

    void read(const std::string& path, const std::string& from) {
        auto where = from.empty() ? path : from;
        std::string text;
        FileId id;
        if (++files_ > kMostFiles) return fail(fmt::format("{}: more than {} files are included", where, kMostFiles));
        if (auto error = load(path, text, id); !error.empty())
            return fail(fmt::format("{}: cannot read {}: {}", where, path, error));
        if (std::find(open_.begin(), open_.end(), id) != open_.end())
            return fail(
                fmt::format("{}: Include={}: it is being read already; do they include each other?", where, path));
        open_.push_back(id);
        split(path, text);
        open_.pop_back();
    }

  private:
    void fail(std::string text) {
        if (out.errors.size() < kMostErrors) out.errors.push_back(std::move(text));
    }

    void split(const std::string& path, const std::string& text) {
        std::string whole;
        bool too_long = false;
        int number = 0, first = 1;
        for (std::size_t from = 0; from < text.size();) {
            auto end = std::min(text.find('\n', from), text.size());
            auto line = text.substr(from, end - from);
            from = end + 1;
            ++number;
            if (!line.empty() && line.back() == '\r') line.pop_back();
            bool goes_on = !line.empty() && line.back() == '\\';
            if (goes_on) line.back() = ' ';
            too_long = too_long || whole.size() + line.size() > kLongestLine;
            if (!too_long) whole += line;
            if (goes_on && from < text.size()) continue;
            if (too_long)
                fail(fmt::format("{}:{}: a line of more than {} characters", path, first, kLongestLine));
            else
                take(path, first, whole);
            whole.clear();
            too_long = false;
            first = number + 1;
        }
    }

    void take(const std::string& path, int number, std::string text) {
        if (auto error = not_text(text); !error.empty()) return fail(fmt::format("{}:{}: {}", path, number, error));
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
                    auto name = at == text.npos ? "" : text.substr(at, token_end(text, at) - at);
                    return include(path, number, unquoted(name));
                }
                return fail(fmt::format("{}:{}: {}: not Key=Value", path, number, token.substr(0, 60)));
            }
            line.tokens.push_back({token.substr(0, equal), unquoted(token.substr(equal + 1))});
        }
        if (line.tokens.empty()) return;
        if (same_word(line.tokens.front().key, "Include")) return include(path, number, line.tokens.front().value);
        out.lines.push_back(std::move(line));
    }

    void include(const std::string& path, int number, const std::string& name) {
        if (name.empty()) return fail(fmt::format("{}:{}: Include: name the file", path, number));
        auto slash = path.rfind('/');
        auto full = name.front() == '/' || slash == path.npos ? name : path.substr(0, slash + 1) + name;
        read(full, fmt::format("{}:{}", path, number));
    }

    static std::string unquoted(const std::string& value) {
        bool quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
        return quoted ? value.substr(1, value.size() - 2) : value;
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

    std::vector<FileId> open_;  // the files on the way down to the one being read
    int files_ = 0;
};

}  // namespace

ConfLines read_conf_lines(const std::string& path) {
    LineReader reader;
    reader.read(path, "");
    return std::move(reader.out);
}

}  // namespace squall
