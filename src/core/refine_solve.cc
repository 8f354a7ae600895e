// SPDX-License-Identifier: GPL-3.0-or-later
// GLPK aborts on internal errors and its memory can run away, so it runs in a child of its own; all that comes back
// are column numbers through a pipe.
#include <fcntl.h>
#include <fmt/format.h>
#include <glpk.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include "src/core/refine.h"
#include "src/core/refine_columns.h"

namespace squall {
namespace {

struct ProblemDeleter {
    void operator()(glp_prob* p) const { glp_delete_prob(p); }
};
using Problem = std::unique_ptr<glp_prob, ProblemDeleter>;

void set_row(glp_prob* lp, int row, const std::vector<int>& columns, const std::vector<double>& values) {
    std::vector<int> index{0};
    std::vector<double> value{0};
    index.insert(index.end(), columns.begin(), columns.end());
    value.insert(value.end(), values.begin(), values.end());
    glp_set_mat_row(lp, row, static_cast<int>(columns.size()), index.data(), value.data());
}

Problem build(const RefineProblem& problem) {
    Problem lp(glp_create_prob());
    glp_set_obj_dir(lp.get(), GLP_MIN);
    glp_add_cols(lp.get(), static_cast<int>(problem.columns.size()));
    for (int i = 0; i < static_cast<int>(problem.columns.size()); ++i) {
        glp_set_col_kind(lp.get(), i + 1, GLP_BV);
        glp_set_obj_coef(lp.get(), i + 1, problem.columns[i].cost / 1e6);
    }
    for (int j = 0; j < static_cast<int>(problem.jobs.size()); ++j) {
        int row = glp_add_rows(lp.get(), 1);
        glp_set_row_name(lp.get(), row, fmt::format("job[{}]", j).c_str());
        glp_set_row_bnds(lp.get(), row, GLP_FX, 1, 1);
        std::vector<int> columns;
        for (int i = 0; i < static_cast<int>(problem.columns.size()); ++i)
            if (problem.columns[i].job == j) columns.push_back(i + 1);
        set_row(lp.get(), row, columns, std::vector<double>(columns.size(), 1.0));
    }
    for (const auto& cap : problem.capacity) {
        std::vector<int> columns;
        std::vector<double> values;
        for (int i = 0; i < static_cast<int>(problem.columns.size()); ++i) {
            const auto& column = problem.columns[i];
            if (column.class_id != cap.class_id || column.start > cap.at || cap.at >= column.end) continue;
            columns.push_back(i + 1);
            values.push_back(column.gpus);
        }
        if (columns.empty()) continue;
        int row = glp_add_rows(lp.get(), 1);
        glp_set_row_name(lp.get(), row, fmt::format("cap[{},{}]", cap.class_id, cap.at).c_str());
        glp_set_row_bnds(lp.get(), row, GLP_UP, 0, cap.free_gpus);
        set_row(lp.get(), row, columns, values);
    }
    return lp;
}

// Hands GLPK the plan we have, so that it only searches for better ones.
void give_incumbent(glp_tree* tree, void* info) {
    if (glp_ios_reason(tree) != GLP_IHEUR) return;
    const auto& problem = *static_cast<const RefineProblem*>(info);
    std::vector<double> values(problem.columns.size() + 1, 0.0);
    for (std::size_t i = 0; i < problem.columns.size(); ++i) values[i + 1] = problem.columns[i].incumbent ? 1.0 : 0.0;
    if (glp_ios_curr_node(tree) == 1) glp_ios_heur_sol(tree, values.data());
}

void inject(SolverFault fault) {
    if (fault == SolverFault::abort) abort();
    if (fault == SolverFault::hang)
        for (;;) pause();
    if (fault == SolverFault::eat_memory)
        for (;;) {
            auto* block = static_cast<char*>(malloc(1 << 24));
            if (block == nullptr) _exit(3);
            memset(block, 1, 1 << 24);
        }
}

[[noreturn]] void child(const RefineProblem& problem, int fd, std::int64_t time_ms, std::int64_t mem_mb,
                        SolverFault fault) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody waits for its answer once the planner was killed
    rlimit limit{static_cast<rlim_t>(mem_mb) << 20, static_cast<rlim_t>(mem_mb) << 20};
    setrlimit(RLIMIT_AS, &limit);
    rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, 1), dup2(null, 2);  // GLPK's farewell words go nowhere
    inject(fault);
    glp_term_out(GLP_OFF);
    auto lp = build(problem);
    glp_iocp options;
    glp_init_iocp(&options);
    options.msg_lev = GLP_MSG_OFF;
    options.presolve = GLP_OFF;
    options.tm_lim = static_cast<int>(time_ms * 9 / 10);
    options.cb_func = give_incumbent;
    options.cb_info = const_cast<RefineProblem*>(&problem);
    glp_smcp simplex;
    glp_init_smcp(&simplex);
    simplex.msg_lev = GLP_MSG_OFF;
    simplex.tm_lim = options.tm_lim;
    if (glp_simplex(lp.get(), &simplex) != 0) _exit(2);
    glp_intopt(lp.get(), &options);
    int status = glp_mip_status(lp.get());
    if (status != GLP_OPT && status != GLP_FEAS) _exit(2);
    std::vector<int> chosen(problem.jobs.size(), -1);
    for (int i = 0; i < static_cast<int>(problem.columns.size()); ++i)
        if (glp_mip_col_val(lp.get(), i + 1) > 0.5) chosen[problem.columns[i].job] = i;
    auto size = chosen.size() * sizeof(int);
    _exit(write(fd, chosen.data(), size) == static_cast<ssize_t>(size) ? (status == GLP_OPT ? 0 : 1) : 2);
}

// Reads the answer until end of file or the deadline; true when it came whole.
bool read_answer(int fd, std::vector<int>& chosen, std::int64_t time_ms) {
    auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(time_ms);
    auto* at = reinterpret_cast<char*>(chosen.data());
    std::size_t left = chosen.size() * sizeof(int);
    while (left > 0) {
        auto wait =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
        pollfd ready{fd, POLLIN, 0};
        if (wait <= 0 || poll(&ready, 1, static_cast<int>(wait)) < 0) {
            if (wait > 0 && errno == EINTR) continue;
            return false;
        }
        if (ready.revents == 0) continue;
        ssize_t got = read(fd, at, left);
        if (got <= 0) return false;
        at += got;
        left -= static_cast<std::size_t>(got);
    }
    return true;
}

std::string describe_end(int status, bool answered) {
    if (answered)
        return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "solved to optimality" : "stopped with its best";
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGKILL ? "out of time" : fmt::format("solver died of signal {}", WTERMSIG(status));
    return WEXITSTATUS(status) == 3 ? "out of memory" : "no solution in time";
}

}  // namespace

RefineAnswer solve_refinement(const RefineProblem& problem, std::int64_t time_ms, std::int64_t mem_mb,
                              SolverFault fault) {
    RefineAnswer answer;
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) return {{}, fmt::format("no pipe: {}", strerror(errno))};
    pid_t pid = fork();
    if (pid < 0) {
        close(fds[0]), close(fds[1]);
        return {{}, fmt::format("no child: {}", strerror(errno))};
    }
    if (pid == 0) {
        try {
            child(problem, fds[1], time_ms, mem_mb, fault);
        } catch (...) {  // out of memory before GLPK noticed
            _exit(3);
        }
    }
    close(fds[1]);
    answer.chosen.assign(problem.jobs.size(), -1);
    bool answered = read_answer(fds[0], answer.chosen, time_ms);
    close(fds[0]);
    if (!answered) kill(pid, SIGKILL);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    answer.note = describe_end(status, answered);
    if (!answered) answer.chosen.clear();
    return answer;
}

}  // namespace squall
