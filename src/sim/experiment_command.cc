// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <thread>

#include "src/sim/experiment.h"
#include "src/sim/run_command.h"

namespace squall::sim {
namespace {

struct Command {
    std::string name;
    ExperimentOptions options;
    bool json = false, markdown = false;
};

std::string machine() {
    std::string model = "unknown processor";
    std::ifstream cpu("/proc/cpuinfo");
    for (std::string line; std::getline(cpu, line);)
        if (line.rfind("model name", 0) == 0) {
            model = line.substr(line.find(':') + 2);
            break;
        }
    utsname system{};
    uname(&system);
    return fmt::format("{} threads of {}, {} {}", std::thread::hardware_concurrency(), model, system.sysname,
                       system.machine);
}

int run_command(Command& command) {
    if (isatty(STDERR_FILENO))
        command.options.progress = [](const std::string& text) { std::cerr << "\r\033[K" << text << std::flush; };
    std::vector<std::string> names{command.name};
    if (command.name == "all") names = experiment_names();
    if (command.markdown)
        std::cout << "<!-- written by `squall-sim experiment all --markdown`; do not edit -->\n# Results\n\nOn "
                  << machine() << ". What is measured and how: doc/experiments.md.\n\n";
    Json all(json_object());
    for (const auto& name : names) {
        auto table = run_experiment(name, command.options);
        if (command.options.progress) std::cerr << "\r\033[K";
        if (!table.error.empty()) {
            std::cerr << "squall-sim: " << table.error << "\n";
            return 2;
        }
        if (command.json && names.size() == 1)
            std::cout << json_format(table.json.get(), JSON_INDENT(1) | JSON_REAL_PRECISION(12)) << "\n";
        else if (command.json)
            json_object_set(all.get(), name.c_str(), table.json.get());
        else
            std::cout << (command.markdown ? as_markdown(table) : as_text(table)) << std::flush;
    }
    if (command.json && names.size() > 1)
        std::cout << json_format(all.get(), JSON_INDENT(1) | JSON_REAL_PRECISION(12)) << "\n";
    std::cout << std::flush;
    return std::cout ? 0 : 1;
}

}  // namespace

std::function<int()> declare_experiment(CLI::App& app) {
    auto command = std::make_shared<Command>();
    auto* sub = app.add_subcommand("experiment", "the project's claims as tables, over seeds");
    std::vector<std::string> names = experiment_names();
    names.emplace_back("all");
    sub->add_option("NAME", command->name, "csv3, e1, e2, e3, deadlines, burst or all")
        ->required()
        ->check(CLI::IsMember(names));
    sub->add_option("--seed", command->options.first_seed, "the first of the seeds")->capture_default_str();
    sub->add_option("--seeds", command->options.seeds, "how many")->check(CLI::Range(1, 10000))->capture_default_str();
    sub->add_option("--plays", command->options.plays, "futures tried for one decision on elastic jobs")
        ->check(CLI::Range(10, 100000000))
        ->capture_default_str();
    sub->add_option("--data", command->options.data, "folder with the traces, where they are not installed");
    auto* json = sub->add_flag("--json", command->json, "as JSON");
    sub->add_flag("--markdown", command->markdown, "as doc/results.md")->excludes(json);
    return [=]() { return sub->parsed() ? run_command(*command) : -1; };
}

}  // namespace squall::sim
