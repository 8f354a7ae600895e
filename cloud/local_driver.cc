// SPDX-License-Identifier: GPL-3.0-or-later
// Launch, list and terminate of the local driver: see local_driver.h. Starting the supervisor is in local_start.cc.
#include "cloud/local_driver.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <sstream>
#include <utility>

#include "cloud/options.h"
#include "cloud/processes.h"

namespace squall::cloud {
namespace {

namespace fs = std::filesystem;

constexpr Seconds kGraceS = 5;         // a supervisor told to stop takes the tree down itself; then it is done by force
constexpr Seconds kKeepEndedS = kDay;  // tokens are remembered this long

// The token as one file name. Names come from slurm.conf, but nothing may climb out of the folder.
std::string id_of(const std::string& token) {
    std::string id = token;
    std::replace(id.begin(), id.end(), '/', '+');
    bool plain = !id.empty() && id[0] != '.' && std::all_of(id.begin(), id.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '.' || c == '_' || c == '-' || c == '+';
    });
    return plain ? id : "";
}

Seconds age_s(const std::string& path) {
    struct stat info {};
    return stat(path.c_str(), &info) == 0 ? time(nullptr) - info.st_mtime : 0;
}

// slurmstepd overwrites its environment, and the marker with it: so the tree is written down while its supervisor
// lives, for the case that nothing but a kill of the supervisor ends it.
using Remembered = std::set<std::pair<pid_t, unsigned long long>>;

Remembered remembered_tree(const std::string& folder) {
    Remembered all;
    std::istringstream in(mark_text(folder, "tree"));
    for (std::pair<pid_t, unsigned long long> one; in >> one.first >> one.second;) all.insert(one);
    return all;
}

// What was seen once stays remembered while it lives: a supervisor that is just being killed has no tree any more.
void remember_tree(const std::string& folder, pid_t supervisor) {
    Remembered all = remembered_tree(folder);
    std::erase_if(all, [](const auto& one) {
        auto now = process(one.first);
        return !now || now->started != one.second;
    });
    for (const Process& one : tree_of([&](const Process& other) { return other.pid == supervisor; }))
        all.emplace(one.pid, one.started);
    std::string text;
    for (const auto& [pid, started] : all) text += fmt::format("{} {}\n", pid, started);
    if (text != mark_text(folder, "tree")) mark(folder, "tree", text);
}

IsRoot belongs_to(const std::string& folder, pid_t supervisor) {
    Remembered remembered = remembered_tree(folder);
    return [=, marker = marker_of(folder)](const Process& one) {
        return one.pid == supervisor || remembered.count({one.pid, one.started}) > 0 || started_with(one.pid, marker);
    };
}

}  // namespace

LocalDriver::LocalDriver(std::string root, std::string supervisor, std::string slurm_conf)
    : root_(std::move(root)),
      supervisor_(std::move(supervisor)),
      slurm_conf_(std::move(slurm_conf)),
      faults_(root_ + "/faults") {}

Error LocalDriver::injected_error(const std::string& node) {
    if (std::string bad = faults_.check(); !bad.empty()) return {ErrorClass::permanent, bad};
    static constexpr std::pair<FaultKind, ErrorClass> kErrors[] = {
        {FaultKind::no_capacity, ErrorClass::no_capacity}, {FaultKind::quota, ErrorClass::quota},
        {FaultKind::throttled, ErrorClass::throttled},     {FaultKind::auth, ErrorClass::auth},
        {FaultKind::transient, ErrorClass::transient},     {FaultKind::permanent, ErrorClass::permanent}};
    for (auto [fault, kind] : kErrors)
        if (faults_.take(node, fault))
            return {kind, fmt::format("injected by {}/faults: {} for {}", root_, to_string(kind), node)};
    return {};
}

Error LocalDriver::make_spec(const LaunchSpec& launch, LocalSpec* spec) {
    spec->node = launch.node;
    spec->generation = launch.generation;
    spec->slurmd = find_program(option_text(launch.options, "SlurmdPath", "slurmd"));
    if (spec->slurmd.empty())
        return {ErrorClass::permanent, fmt::format("Driver.SlurmdPath={}: no such program",
                                                   option_text(launch.options, "SlurmdPath", "slurmd"))};
    // slurmstepd reads the file again from another directory: the path must be absolute.
    spec->slurm_conf = fs::absolute(option_text(launch.options, "SlurmConf", slurm_conf_));
    if (!fs::exists(spec->slurm_conf))
        return {ErrorClass::permanent, fmt::format("Driver.SlurmConf={}: no such file", spec->slurm_conf)};
    spec->address = option_text(launch.options, "Address", "127.0.0.1");
    spec->log = fmt::format("{}/log/{}.log", root_, launch.node);
    std::string error = option_seconds(launch.options, "BootDelay", 0, &spec->boot_delay_s);
    if (!error.empty()) return {ErrorClass::permanent, error};
    spec->boot_delay_s += faults_.take(launch.node, FaultKind::slow_boot).value_or(0);
    spec->never_boots = faults_.take(launch.node, FaultKind::never_boots).has_value();
    spec->dies_after_s = faults_.take(launch.node, FaultKind::dies_after).value_or(-1);
    return {};
}

LaunchResult LocalDriver::launch(const LaunchSpec& launch) {
    std::string id = id_of(launch.token);
    if (id.empty() || id_of(launch.node).empty())
        return {{ErrorClass::permanent, fmt::format("token \"{}\": not a plain name", launch.token)}, {}};
    if (fs::exists(ended_folder_of(id)))
        return {{}, {id, launch.node, launch.generation, InstanceState::gone, "", "it has ended"}};
    LocalSpec spec;
    if (!fs::exists(folder_of(id))) {
        if (Error error = injected_error(launch.node)) return {error, {}};
        spec.id = id;
        if (Error error = make_spec(launch, &spec)) return {error, {}};
        std::error_code ignored;  // write_spec reports what matters
        fs::create_directories(root_ + "/log", ignored);
        fs::create_directories(root_ + "/ended", ignored);
        forget_old_ended();
        std::string error = write_spec(spec, folder_of(id));
        if (!error.empty()) return {{ErrorClass::transient, error}, {}};
    } else if (std::string error = read_spec(folder_of(id), &spec); !error.empty()) {
        return {{ErrorClass::permanent, error}, {}};
    }
    // Not started: this launch, or one that a kill cut short between the folder and the supervisor.
    if (!marked(folder_of(id), "started") && SpecLock(folder_of(id)).holder() == 0) {
        if (Error error = start_supervisor(spec)) {
            bury(id);
            return {error, {}};
        }
    }
    if (faults_.take(launch.node, FaultKind::lost_answer))
        return {{ErrorClass::transient, fmt::format("injected by {}/faults: the answer was lost", root_)}, {}};
    return {{}, look(id)};
}

Instance LocalDriver::look(const std::string& id) {
    LocalSpec spec;
    std::string folder = folder_of(id), error = read_spec(folder, &spec);
    Instance instance{id, spec.node, spec.generation, InstanceState::pending, "", error};
    bool told_to_stop = marked(folder, "stop");
    if (SpecLock(folder).holder() != 0) {
        if (told_to_stop) {
            instance.state = InstanceState::stopping;
        } else if (marked(folder, "booted")) {
            instance.state = InstanceState::running;
            instance.address = spec.address;
        }
    } else if (told_to_stop) {
        instance.state = InstanceState::stopping;
    } else if (marked(folder, "started")) {
        instance.state = InstanceState::failed;
        instance.reason = mark_text(folder, "ended");
        if (instance.reason.empty()) instance.reason = "its supervisor was killed";
    }
    return instance;
}

// Brings what is on disk in line with what runs: a dead machine has no processes, a stopped one goes away.
// Returns false when the instance is gone.
bool LocalDriver::settle(const std::string& id, Instance* instance) {
    std::string folder = folder_of(id);
    *instance = look(id);
    pid_t holder = SpecLock(folder).holder();
    if (instance->state == InstanceState::running && holder > 0) remember_tree(folder, holder);
    if (instance->state == InstanceState::failed && holder == 0) kill_tree(belongs_to(folder, 0));
    if (instance->state != InstanceState::stopping) return true;
    if (holder != 0 && age_s(folder + "/stop") < kGraceS) return true;
    IsRoot is_root = belongs_to(folder, holder);
    kill_tree(is_root);
    if (!tree_of(is_root).empty() || !bury(id)) return true;  // still dying: the next look finishes it
    instance->state = InstanceState::gone;
    return false;
}

// Under the lock, so that a supervisor that is only just starting cannot begin to run it.
bool LocalDriver::bury(const std::string& id) {
    SpecLock lock(folder_of(id));
    if (!lock.take()) return false;
    std::error_code ignored;
    fs::create_directories(root_ + "/ended", ignored);
    return std::rename(folder_of(id).c_str(), ended_folder_of(id).c_str()) == 0;
}

ListResult LocalDriver::list() {
    reap();
    ListResult result;
    std::error_code error;
    if (!fs::exists(root_ + "/instances")) return result;  // nothing was ever launched
    std::vector<std::string> ids;
    for (const auto& entry : fs::directory_iterator(root_ + "/instances", error))
        if (entry.path().extension() != ".part") ids.push_back(entry.path().filename());
    if (error) result.error = {ErrorClass::transient, fmt::format("{}/instances: {}", root_, error.message())};
    std::sort(ids.begin(), ids.end());
    if (faults_.take("*", FaultKind::list_fails)) {
        result.error = {ErrorClass::transient, fmt::format("injected by {}/faults: list_fails", root_)};
        ids.resize(ids.size() / 2);
    }
    for (const std::string& id : ids) {
        Instance instance;
        if (settle(id, &instance)) result.instances.push_back(instance);
    }
    return result;
}

Error LocalDriver::terminate(const std::string& id) {
    if (id.empty() || id_of(id) != id || !fs::exists(folder_of(id))) return {};
    LocalSpec spec;
    read_spec(folder_of(id), &spec);
    if (faults_.take(spec.node, FaultKind::terminate_fails))
        return {ErrorClass::transient, fmt::format("injected by {}/faults: terminate_fails for {}", root_, spec.node)};
    if (!marked(folder_of(id), "stop")) {
        if (std::string error = mark(folder_of(id), "stop"); !error.empty()) return {ErrorClass::transient, error};
    }
    // The supervisor takes the lock first and looks for the mark then: one of us sees the other.
    if (pid_t holder = SpecLock(folder_of(id)).holder(); holder > 0) kill(holder, SIGTERM);
    Instance instance;
    settle(id, &instance);
    return {};
}

void LocalDriver::forget_old_ended() {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(root_ + "/ended", ignored))
        if (age_s(entry.path()) > kKeepEndedS) fs::remove_all(entry.path(), ignored);
}

void LocalDriver::reap() {
    for (auto at = children_.begin(); at != children_.end();)
        at = waitpid(at->first, nullptr, WNOHANG) != 0 ? children_.erase(at) : std::next(at);
}

}  // namespace squall::cloud
