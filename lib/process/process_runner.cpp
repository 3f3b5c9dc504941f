// SPDX-License-Identifier: MIT
#include "process/process_runner.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "process/exec.hpp"
#include "process/output_pipes.hpp"
#include "process/spawn.hpp"
#include "process/supervision.hpp"

namespace jobthrottle {

namespace {}  // namespace

bool has_controlling_terminal() {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        if (tcgetpgrp(fd) >= 0) return true;
    }
    const Fd terminal{open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)};
    return static_cast<bool>(terminal);
}

Result<ChildReport> ProcessRunner::run(const Command& command, OutputWatcher* watcher) {
    const ExecImage image{command};
    auto pipes = OutputPipes::open(command, watcher);
    if (!pipes) return pipes.error();
    const CommandSignals held_back;

    SpawnPlan plan;
    plan.output = pipes->child_output();
    plan.error_output = pipes->child_error();
    plan.own_group = !has_controlling_terminal();
    std::optional<GroupWitness> witness;
    if (!plan.own_group) {
        auto started = GroupWitness::start();
        if (!started) return started.error();
        witness.emplace(std::move(started).value());
    }
    sigset_t came_before;
    sigpending(&came_before);
    const auto born = spawn(image, plan);
    if (!born) return born.error();
    pipes->close_child_ends();
    if (const auto* end = std::get_if<ChildEnd>(&*born)) return ChildReport{*end, std::nullopt, 0};

    Supervision supervision{m_inbox, std::get<pid_t>(*born), std::move(witness), came_before};
    return supervision.until_end(*pipes);
}

}  // namespace jobthrottle
