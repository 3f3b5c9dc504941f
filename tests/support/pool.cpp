// SPDX-License-Identifier: MIT
#include "support/pool.hpp"

#include <algorithm>
#include <list>

namespace jobthrottle::test {
namespace {

// Short enough for a kernel that gives no descriptor of a process; with one, poll returns at once anyway.
constexpr int k_longest_poll_ms = 5;

struct Worker {
    std::size_t index;
    Program program;
};

void wait_for_any(const std::list<Worker>& workers) {
    std::vector<pollfd> fds;
    for (const Worker& worker : workers)
        worker.program.add_poll_fds(fds);
    poll(fds.data(), fds.size(), k_longest_poll_ms);
}

}  // namespace

std::size_t PoolResult::count_with_code(int code) const {
    return static_cast<std::size_t>(std::count_if(
        results.begin(), results.end(), [&](const ProgramResult& one) { return one.code == code; }));
}

PoolResult run_pool(const std::vector<Argv>& commands, std::size_t at_once, const ProgramOptions& options) {
    PoolResult pool;
    pool.results.resize(commands.size());
    pool.started = pool.ended = BootClock::now();
    std::list<Worker> workers;
    std::size_t next = 0;
    while (next < commands.size() || !workers.empty()) {
        while (next < commands.size() && workers.size() < at_once) {
            workers.push_back({next, Program(commands[next], options)});
            ++next;
        }
        wait_for_any(workers);
        for (auto it = workers.begin(); it != workers.end();) {
            it->program.service();
            if (!it->program.ended()) {
                ++it;
                continue;
            }
            pool.results[it->index] = it->program.wait();
            pool.ended = std::max(pool.ended, pool.results[it->index].ended);
            it = workers.erase(it);
        }
    }
    return pool;
}

PoolResult run_many(const Argv& command, std::size_t count, std::size_t at_once,
                    const ProgramOptions& options) {
    return run_pool(std::vector<Argv>(count, command), at_once, options);
}

}  // namespace jobthrottle::test
