// SPDX-License-Identifier: GPL-3.0-or-later
// splan: Squall's plans, jobs, nodes and spend, in the manner of sinfo and squeue. Reads slurmctld through Slurm's own
// authentication, so it works from any login node; the ledger adds money and history on the controller.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>

#include "config.h"
#include "src/core/conf.h"
#include "src/slurm/libslurm_client.h"
#include "src/splan/gather.h"
#include "src/splan/json.h"
#include "src/splan/report.h"
#include "src/splan/spend.h"
#include "src/splan/table.h"

namespace {

using namespace squall;
using namespace squall::splan;

struct Options {
    bool jobs = false, json = false, progress = false, no_header = false, spend = false, report = false, csv = false,
         version = false;
    std::string job_list, why, format, partition, user, conf;
    double interval_s = 0;
};

constexpr const char* kExamples = R"(
Examples:
  splan                      node classes: what is on, what is used, what it costs now
  splan -j                   Squall's jobs: due, slack, where and when they run, what it costs
  splan -j 12,13 -i 2        two of them, again every 2 seconds
  splan --why 12             why job 12 runs where and when it does
  splan -j -o jobid,why      columns of your choice (names or squeue-like "%8i %t")
  splan --spend              rent today and this month, by class, account, job and offer, forecast, open leases
  splan --spend --csv        rent by account, job and offer, for a spreadsheet
  splan --report             finished jobs: on time, late, energy and rent, planned against real
  splan --json               everything, for scripts

Exit status: 0, or 1 when something went wrong (message on standard error).)";

[[noreturn]] void fail(const std::string& message) {
    fmt::print(stderr, "splan: error: {}\n", message);
    std::exit(1);
}

std::string column_help() {
    std::string text = "\nColumns for -o (name, letter):\n  node classes:\n";
    for (const auto& c : class_columns()) text += fmt::format("    {:<10} %{}  {}\n", c.name, c.letter, c.help);
    text += "  jobs (-j):\n";
    for (const auto& c : job_columns()) text += fmt::format("    {:<10} %{}  {}\n", c.name, c.letter, c.help);
    return text;
}

void read_options(int argc, char** argv, Options& o) {
    CLI::App app{"Squall's plans, jobs, nodes and spend"};
    app.set_help_flag("--help", "show this help");
    app.footer(column_help() + kExamples);
    auto* jobs =
        app.add_option("-j,--jobs", o.job_list, "show jobs, all or those of LIST")->expected(0, 1)->type_name("[LIST]");
    app.add_option("--why", o.why, "why this job runs where and when it does")->type_name("JOB");
    app.add_option("-o,--format", o.format, "columns: names with commas, or \"%10x\" as squeue")->type_name("FORMAT");
    app.add_option("-p,--partition", o.partition, "only jobs of this partition")->type_name("NAME");
    app.add_option("-u,--user", o.user, "only jobs of this user")->type_name("NAME");
    app.add_option("-i,--iterate", o.interval_s, "again every so many seconds")
        ->type_name("SECONDS")
        ->check(CLI::PositiveNumber);
    app.add_option("-f,--conf", o.conf, "squall.conf (default: beside slurm.conf)")->type_name("FILE");
    app.add_flag("-h,--noheader", o.no_header, "no header lines");
    app.add_flag("--progress", o.progress, "one line: how many run, wait, are done, and what the plan costs");
    app.add_flag("--json", o.json, "everything as JSON");
    app.add_flag("--spend", o.spend, "rent, energy and lateness so far (needs the ledger)");
    app.add_flag("--csv", o.csv, "--spend as CSV");
    app.add_flag("--report", o.report, "what became of finished jobs (needs the ledger)");
    app.add_flag("-V,--version", o.version, "show the version");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        std::exit(app.exit(e) == 0 ? 0 : 1);
    }
    o.jobs = jobs->count() > 0;
    if (o.csv && !o.spend) fail("--csv goes with --spend");
    if (o.version) {
        fmt::print("splan {}\n", PACKAGE_VERSION);
        std::exit(0);
    }
}

std::vector<std::uint32_t> parse_job_list(const std::string& list) {
    std::vector<std::uint32_t> ids;
    for (std::size_t from = 0; !list.empty() && from <= list.size();) {
        auto end = std::min(list.find(',', from), list.size());
        auto part = list.substr(from, end - from);
        char* rest = nullptr;
        auto id = std::strtoul(part.c_str(), &rest, 10);
        if (part.empty() || *rest != '\0' || id == 0 || id > UINT32_MAX) fail("Invalid job id: " + printable(part));
        ids.push_back(static_cast<std::uint32_t>(id));
        from = end + 1;
    }
    return ids;
}

// Where the world is read from, kept between rounds of -i.
class Source {
  public:
    explicit Source(const Options& options) {
        auto path = find_conf(options.conf);
        auto read = read_conf(path);
        if (read.errors.empty())
            conf_ = std::move(read.conf);
        else if (!options.conf.empty())
            fail(read.errors.front());
        open_ledger();
    }

    View view() {
        if (auto reply = client_.refresh(cluster_); !reply) fail("slurmctld: " + reply.message);
        return make_view(cluster_, conf_ ? &*conf_ : nullptr, ledger_.get(), no_ledger_, time(nullptr));
    }
    Ledger* ledger() { return ledger_.get(); }

  private:
    void open_ledger() {
        if (!conf_) {
            no_ledger_ = "squall.conf cannot be read here; run splan on the controller";
            return;
        }
        try {
            ledger_ = std::make_unique<Ledger>(Ledger::open_read_only(conf_->ledger_path()));
        } catch (const LedgerError& e) {
            no_ledger_ =
                fmt::format("{}; run splan on the controller, as a user who may read {}", e.what(), conf_->state_dir);
        }
    }

    std::optional<Conf> conf_;
    std::unique_ptr<Ledger> ledger_;
    std::string no_ledger_;
    slurm::LibslurmClient client_;
    slurm::Cluster cluster_;
};

TableOptions table_options(const Options& o) {
    TableOptions t;
    t.header = !o.no_header;
    bool terminal = isatty(STDOUT_FILENO) != 0;
    const char* no_colour = getenv("NO_COLOR");
    t.colour = terminal && !(no_colour && *no_colour);
    winsize size{};
    if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) t.terminal_width = size.ws_col;
    return t;
}

template <typename Row>
void print_table(const std::vector<Column<Row>>& columns, const std::string& format, const std::vector<Row>& rows,
                 const View& view, const Options& o) {
    auto parsed = parse_format(format, names_of(columns));
    if (!parsed.error.empty()) fail(parsed.error);
    fmt::print("{}", table(columns, parsed.picks, rows, view, table_options(o)));
}

void keep_chosen(View& view, const Options& o) {
    auto ids = parse_job_list(o.job_list);
    for (auto id : ids)
        if (std::none_of(view.jobs.begin(), view.jobs.end(), [id](const auto& j) { return j.id == id; }))
            fail(fmt::format("job {} is not one of Squall's (or slurmctld has forgotten it)", id));
    std::erase_if(view.jobs, [&](const JobLine& j) {
        return (!ids.empty() && std::find(ids.begin(), ids.end(), j.id) == ids.end()) ||
               (!o.partition.empty() && j.partition != o.partition) || (!o.user.empty() && j.user != o.user);
    });
}

void print_why(const View& view, Source& source, const std::string& text) {
    auto ids = parse_job_list(text);
    for (auto id : ids) {
        auto job = std::find_if(view.jobs.begin(), view.jobs.end(), [id](const auto& j) { return j.id == id; });
        if (job == view.jobs.end())
            fail(fmt::format("job {} is not one of Squall's (or slurmctld has forgotten it)", id));
        std::vector<DecisionRow> history;
        if (source.ledger())
            for (auto& d : source.ledger()->decisions(id))
                if (d.submit_at == job->submit_at) history.push_back(std::move(d));
        fmt::print("{}", why_text(view, *job, history));
    }
}

void print_once(const Options& o, Source& source) {
    auto view = source.view();
    if ((o.spend || o.report) && !view.has_ledger) fail(view.no_ledger_why);
    if (!o.why.empty()) return print_why(view, source, o.why);
    keep_chosen(view, o);
    if (o.json) return fmt::print("{}", to_json(view, make_report(view), make_spend(view)));
    if (o.csv) return fmt::print("{}", spend_csv(make_spend(view)));
    if (o.spend) return fmt::print("{}", spend_text(view, make_spend(view)));
    if (o.report) return fmt::print("{}", report_text(view, make_report(view)));
    if (o.progress) return fmt::print("{}\n", progress_line(view));
    if (!o.no_header && (isatty(STDOUT_FILENO) || o.interval_s > 0)) fmt::print("{}\n", progress_line(view));
    if (o.jobs)
        print_table(job_columns(), o.format.empty() ? kJobDefault : o.format, view.jobs, view, o);
    else
        print_table(class_columns(), o.format.empty() ? kClassDefault : o.format, view.classes, view, o);
}

void print_rounds(const Options& o, Source& source) {
    while (true) {
        if (isatty(STDOUT_FILENO)) fmt::print("\033[H\033[2J");
        print_once(o, source);
        std::fflush(stdout);
        usleep(static_cast<useconds_t>(o.interval_s * 1e6));
        if (!isatty(STDOUT_FILENO)) fmt::print("\n");
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        Options options;
        read_options(argc, argv, options);
        Source source(options);
        if (options.interval_s > 0) print_rounds(options, source);
        print_once(options, source);
        return 0;
    } catch (const std::exception& e) {
        fail(e.what());
    }
}
