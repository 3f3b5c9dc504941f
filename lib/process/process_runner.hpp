// SPDX-License-Identifier: MIT
#pragma once

#include "process/child.hpp"
#include "process/signals.hpp"

namespace jobthrottle {

// A terminal from which this process can be interrupted, also when no standard stream is one.
bool has_controlling_terminal();

// Runs real processes. REQUIRES: run() is called by the main thread (the kernel tells the command of the
// death of the thread that started it). The inbox is borrowed and has to outlive it.
//
// Standard input, and every descriptor that is not ours, is the command's own. With a controlling terminal
// the command stays in our process group, so that the terminal's keys and the shell's job control reach it;
// without one it gets a group of its own, and signals to us are sent on to all of it. Either way each signal
// reaches the command once. When the command stops by the terminal, so do we.
//
// run() returns when the command itself has ended, also while something it left behind holds the pipe; that
// gets SIGPIPE when it writes later. As process 1 it reaps orphans too.
//
// A signal that the companion wants sent goes to the command, and to all of its process group where it leads
// one; what of that group is still there when the command has ended gets SIGKILL. While this process is
// stopped together with the command, the companion is not asked.
class ProcessRunner final : public ChildRunner {
public:
    explicit ProcessRunner(SignalInbox& inbox) : m_inbox(inbox) {}
    Result<ChildReport> run(const Command& command, OutputWatcher* watcher, Companion* companion) override;

private:
    SignalInbox& m_inbox;
};

}  // namespace jobthrottle
