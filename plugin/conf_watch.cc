// SPDX-License-Identifier: GPL-3.0-or-later
#include "plugin/conf_watch.h"

#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <utility>

#include "plugin/site_conf.h"
#include "plugin/slurm_symbols.h"

namespace squall::plugin {
namespace {

std::string ask_default_partition() {
    partition_info_msg_t* raw = nullptr;
    if (slurm_load_partitions(0, &raw, SHOW_ALL) != SLURM_SUCCESS) return "";
    std::unique_ptr<partition_info_msg_t, void (*)(partition_info_msg_t*)> partitions(raw,
                                                                                      slurm_free_partition_info_msg);
    for (uint32_t i = 0; i < partitions->record_count; ++i)
        if ((partitions->partition_array[i].flags & PART_FLAG_DEFAULT) != 0) return partitions->partition_array[i].name;
    return "";
}

}  // namespace

void ConfWatch::start() {
    if (thread_.joinable()) return;
    changed();
    now_.conf = load_conf("job_submit/squall", true);  // sched/squall logs what is wrong with it
    stop_ = false;
    thread_ = std::thread([this] {
        try {
            run();
        } catch (const std::exception& e) {
            slurm_error("job_submit/squall: the configuration is not followed any more: %s", e.what());
        }
    });
}

void ConfWatch::stop() {
    if (!thread_.joinable()) return;
    {
        std::lock_guard lock(mutex_);
        stop_ = true;
    }
    thread_.join();
}

ConfWatch::Now ConfWatch::get() const {
    std::lock_guard lock(mutex_);
    return now_;
}

bool ConfWatch::changed() {
    struct stat file {};
    long mtime_ns =
        stat(conf_path().c_str(), &file) == 0 ? file.st_mtim.tv_sec * 1000000000L + file.st_mtim.tv_nsec : -2;
    return std::exchange(seen_mtime_ns_, mtime_ns) != mtime_ns;
}

void ConfWatch::run() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    for (int tick = 0;; ++tick) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        bool reread = tick % 5 == 0 && changed();
        auto conf = reread ? load_conf("job_submit/squall", true) : nullptr;
        bool unknown = get().default_partition.empty();
        auto partition = tick % (unknown ? 5 : 150) == 4 ? ask_default_partition() : "";
        std::lock_guard lock(mutex_);
        if (stop_) return;
        if (reread) now_.conf = std::move(conf);
        if (!partition.empty()) now_.default_partition = partition;
    }
}

}  // namespace squall::plugin
