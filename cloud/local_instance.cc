// SPDX-License-Identifier: GPL-3.0-or-later
// Files, marks and the lock of a local instance: see local_instance.h.
#include "cloud/local_instance.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "src/core/json.h"

namespace squall::cloud {
namespace {

namespace fs = std::filesystem;

std::string failure(const std::string& path, const char* doing) {
    return fmt::format("{}: cannot {}: {}", path, doing, std::strerror(errno));
}

std::string sync_path(const std::string& path, int flags) {
    Fd fd(open(path.c_str(), flags | O_CLOEXEC));
    return fd && fsync(fd.get()) == 0 ? "" : failure(path, "write to disk");
}

// The file appears whole or not at all.
std::string write_whole(const std::string& path, const std::string& text) {
    std::string part = path + ".part";
    {
        Fd fd(open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640));
        if (!fd || write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
            return failure(part, "write");
    }
    return rename(part.c_str(), path.c_str()) == 0 ? "" : failure(path, "write");
}

std::string to_json(const LocalSpec& spec) {
    Json json(json_pack(
        "{s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:I, s:b, s:I}", "id", spec.id.c_str(), "node", spec.node.c_str(),
        "generation", spec.generation, "slurmd", spec.slurmd.c_str(), "slurm_conf", spec.slurm_conf.c_str(), "address",
        spec.address.c_str(), "log", spec.log.c_str(), "boot_delay_s", static_cast<json_int_t>(spec.boot_delay_s),
        "never_boots", static_cast<int>(spec.never_boots), "dies_after_s", static_cast<json_int_t>(spec.dies_after_s)));
    return json ? json_format(json.get(), JSON_INDENT(1)) : "";
}

}  // namespace

std::string write_spec(const LocalSpec& spec, const std::string& folder) {
    std::string text = to_json(spec);
    if (text.empty()) return fmt::format("{}: node name or path is not UTF-8", folder);
    std::string part = folder + ".part", error;
    std::error_code problem;
    fs::remove_all(part, problem);  // a killed predecessor's
    fs::create_directories(part, problem);
    if (problem) return fmt::format("{}: cannot make the folder: {}", part, problem.message());
    if (error = write_whole(part + "/spec.json", text); !error.empty()) return error;
    if (error = sync_path(part + "/spec.json", O_RDWR); !error.empty()) return error;
    if (error = sync_path(part, O_RDONLY | O_DIRECTORY); !error.empty()) return error;
    if (rename(part.c_str(), folder.c_str()) != 0) return failure(folder, "make the folder");
    return sync_path(fs::path(folder).parent_path(), O_RDONLY | O_DIRECTORY);
}

std::string read_spec(const std::string& folder, LocalSpec* spec) {
    std::string error;
    Json json = json_read(folder + "/spec.json", &error);
    if (!json) return error;
    spec->id = json_text(json.get(), "id");
    spec->node = json_text(json.get(), "node");
    spec->generation = static_cast<int>(json_integer(json.get(), "generation"));
    spec->slurmd = json_text(json.get(), "slurmd");
    spec->slurm_conf = json_text(json.get(), "slurm_conf");
    spec->address = json_text(json.get(), "address");
    spec->log = json_text(json.get(), "log");
    spec->boot_delay_s = json_integer(json.get(), "boot_delay_s");
    spec->never_boots = json_is_true(json_object_get(json.get(), "never_boots"));
    spec->dies_after_s = json_integer(json.get(), "dies_after_s", -1);
    return spec->id.empty() || spec->node.empty() ? fmt::format("{}/spec.json: no id or node in it", folder) : "";
}

std::string marker_of(const std::string& folder) { return "SQUALL_INSTANCE=" + folder; }

std::string mark(const std::string& folder, const char* name, const std::string& text) {
    return write_whole(folder + "/" + name, text);
}

bool marked(const std::string& folder, const char* name) { return access((folder + "/" + name).c_str(), F_OK) == 0; }

std::string mark_text(const std::string& folder, const char* name) {
    std::ifstream in(folder + "/" + name);
    return {std::istreambuf_iterator<char>(in), {}};
}

SpecLock::SpecLock(const std::string& folder)
    : path_(folder + "/spec.json"), fd_(open(path_.c_str(), O_RDWR | O_CLOEXEC)) {}

bool SpecLock::take() {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    if (!fd_ || fcntl(fd_.get(), F_SETLK, &lock) != 0) return false;
    // The folder may have moved to ROOT/ended between opening and locking.
    struct stat ours {
    }, there{};
    return fstat(fd_.get(), &ours) == 0 && stat(path_.c_str(), &there) == 0 && ours.st_ino == there.st_ino &&
           ours.st_dev == there.st_dev;
}

pid_t SpecLock::holder() const {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    if (!fd_ || fcntl(fd_.get(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
    return lock.l_pid;
}

}  // namespace squall::cloud
