// SPDX-License-Identifier: MIT
#include "process/process_runner.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "process/exec.hpp"
#include "process/output_pipes.hpp"
#include "process/spawn.hpp"
#include "process/supervision.hpp"

namespace jobthrottle {

bool has_controlling_terminal() {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        if (tcgetpgrp(fd) >= 0) return true;
    }
    const Fd terminal{open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)};
    return static_cast<bool>(terminal);
}

Result<ChildReport> ProcessRunner::run(const Command& command, OutputWatcher* watcher, Companion* companion) {
    const ExecImage image{command};
    auto pipes = OutputPipes::open(command, watcher);
    if (!pipes) return pipes.error();
    std::optional<BootAlarm> alarm;
    if (companion != nullptr) {
        auto made = BootAlarm::make();
        if (!made) return made.error();
        alarm.emplace(std::move(made).value());
    }
    const CommandSignals held_back;

    SpawnPlan plan;
    plan.output = pipes->child_output();
    plan.error_output = pipes->child_error();
    plan.dies_with_us = command.dies_with_us;
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
    const auto* pid = std::get_if<pid_t>(&*born);
    if (pid != nullptr && companion != nullptr) companion->started(*pid);
    pipes->close_child_ends();
    if (pid == nullptr) return ChildReport{std::get<ChildEnd>(*born), std::nullopt, 0};

    Supervision supervision{m_inbox, *pid, std::move(witness), came_before};
    if (alarm) supervision.accompany(*companion, std::move(*alarm));
    return supervision.until_end(*pipes);
}

}  // namespace jobthrottle
