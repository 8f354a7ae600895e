// SPDX-License-Identifier: GPL-3.0-or-later
// The lease daemon's process: see cloudd.h.
#include "cloud/cloudd.h"

#include <config.h>

#include <ctime>
#include <optional>
#include <utility>

#include "cloud/alert.h"
#include "cloud/lease_machine.h"
#include "src/core/daemon.h"
#include "src/core/ledger.h"
#include "src/core/log.h"
#include "src/core/poke.h"

namespace squall::cloud {
namespace {

constexpr std::chrono::milliseconds kTick{1000};

void open_log(const Conf& conf, bool foreground) {
    std::string error = foreground ? "" : make_directory(conf.log_dir);
    std::string path = foreground ? "" : conf.log_dir + "/squall-cloudd.log";
    if (error.empty()) error = log_open(path, static_cast<LogLevel>(conf.log_level));
    if (!error.empty()) log_error("{}; logging to stderr", error);
}

// nullopt: it cannot be used; its errors are in the log.
std::optional<Conf> read_conf(const CloudSources& sources, bool foreground) {
    ConfResult result = sources.read_conf();
    open_log(result.conf, foreground);
    for (const std::string& line : result.warnings) log_warning("{}", line);
    for (const std::string& line : result.errors) log_error("{}", line);
    if (!result.errors.empty()) return std::nullopt;
    return std::move(result.conf);
}

Fleet make_fleet(const Conf& conf, const CloudSources& sources) {
    Fleet fleet(conf, sources.make_driver);
    for (const std::string& error : fleet.errors()) log_error("{}", error);
    return fleet;
}

void tell_waiting(pid_t holder) { log_info("process {} is the active squall-cloudd; waiting for it to leave", holder); }

// Everything after the lock is ours.
class Cloudd {
  public:
    Cloudd(Daemon& daemon, const CloudOptions& options, const CloudSources& sources, Conf conf)
        : daemon_(daemon),
          options_(options),
          sources_(sources),
          conf_(std::move(conf)),
          ledger_(Ledger::open(conf_.ledger_path())),
          slurm_(sources.make_slurm(conf_)),
          machine_({ledger_, *slurm_, [this] { poke(conf_.poke_socket()); }, [this] { return daemon_.stopping(); },
                    options.patience_s,
                    [this](const std::string& kind, const std::string& text) {
                        alerts_.send(conf_.alert_program, kind, text, std::time(nullptr));
                    }},
                   make_fleet(conf_, sources)) {}

    void run() {
        log_info("squall-cloudd {} is active, ledger {}", VERSION, conf_.ledger_path());
        while (!daemon_.stopping()) {
            tick();
            Wake wake = daemon_.wait(kTick);
            if (wake.reload) reload();
        }
        log_info("squall-cloudd stops; leases go on");
    }

  private:
    void tick() {
        try {
            alerts_.reap();
            machine_.tick(std::time(nullptr));
            conditions_.clear("ledger", "the ledger can be written again");
        } catch (const LedgerError& error) {
            conditions_.raise("ledger", error.what());
        }
    }

    void reload() {
        std::optional<Conf> fresh = read_conf(sources_, options_.foreground);
        if (!fresh) {
            log_error("{} has errors: the old configuration stays in force", conf_.path);
            return;
        }
        if (fresh->state_dir != conf_.state_dir) {
            log_error("StateDir={}: cannot change while running; restart slurmctld", fresh->state_dir);
            fresh->state_dir = conf_.state_dir;
        }
        conf_ = std::move(*fresh);
        machine_.reload(make_fleet(conf_, sources_));
        log_info("{} read again", conf_.path);
    }

    Daemon& daemon_;
    const CloudOptions& options_;
    const CloudSources& sources_;
    Conf conf_;
    Ledger ledger_;
    std::unique_ptr<SlurmNodes> slurm_;
    Alerts alerts_;
    LeaseMachine machine_;
    Conditions conditions_;
};

}  // namespace

int run_cloudd(const CloudOptions& options, const CloudSources& sources) {
    Daemon daemon(options.lifeline_fd);
    std::optional<Conf> conf = read_conf(sources, options.foreground);
    if (!conf) return 1;
    std::string error = make_directory(conf->state_dir);
    if (error.empty() &&
        !daemon.become_active(conf->state_dir + "/cloudd.lock", conf->cloud_socket(), &error, tell_waiting) &&
        error.empty())
        return 0;
    if (!error.empty()) {
        log_error("{}", error);
        return 1;
    }
    try {
        Cloudd(daemon, options, sources, std::move(*conf)).run();
    } catch (const LedgerError& problem) {
        log_error("{}", problem.what());
        return 1;
    }
    return 0;
}

}  // namespace squall::cloud
