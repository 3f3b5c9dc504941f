// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>

#include "process/boot_alarm.hpp"
#include "process/child.hpp"
#include "process/group_witness.hpp"
#include "process/output_pipes.hpp"
#include "process/signals.hpp"

namespace jobthrottle {

// Accompanies one running command to its end: passes signals and output on, follows its stops, reaps it.
class Supervision {
public:
    // `witness` when the command is in our own process group, else it leads one. `came_before` are the
    // signals that were pending when it started, which it cannot have had.
    Supervision(SignalInbox& inbox, pid_t command, std::optional<GroupWitness> witness, sigset_t came_before);

    // Asks the companion, which is borrowed, whenever it is due while the command runs.
    void accompany(Companion& companion, BootAlarm alarm);
    ChildReport until_end(OutputPipes& pipes);

private:
    void wait_once(OutputPipes& pipes);
    void read_signals();
    void drain_inbox();
    void on_signal(const ReceivedSignal& received);
    bool group_had(const ReceivedSignal& received);
    void pass_on(int signal);
    int alarm_fd();
    void ask_companion();
    bool end_the_group();
    void reap();
    void record_end(int status);
    void follow_stop(int stop_signal);
    bool is_continued() const;
    bool has_ended() const { return m_command < 0; }

    SignalInbox& m_inbox;
    pid_t m_command;  // -1 once reaped: the number may be another's then
    std::optional<GroupWitness> m_witness;
    sigset_t m_came_before;
    Companion* m_companion = nullptr;
    std::optional<BootAlarm> m_alarm;
    std::optional<BootTime> m_alarm_at;
    bool m_group_is_to_end = false;
    ChildReport m_report;
    bool m_child_changed = false;
    bool m_stop_asked = false;  // TSTP came and no CONT since
    bool m_abandon_output = false;
};

}  // namespace jobthrottle
