// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "cli/ending.hpp"
#include "cli/session.hpp"
#include "cli/teller.hpp"
#include "process/signals.hpp"
#include "process/sleeper.hpp"
#include "run/gate.hpp"

namespace jobthrottle {

// A job with all that it needs to pass the gate: signals held back, the store open, somebody to tell. Its
// parts borrow from each other, so it stays where it is.
class AtTheGate {
public:
    // `options` and `limit` are borrowed. `wanted` holds what the command itself decides (no_wait, peek,
    // ticket, holder); the rest comes from the settings and the limit.
    static Result<std::unique_ptr<AtTheGate>> open(const Common& common, const LimitOptions& limit,
                                                   const std::string& name, GateOptions wanted);

    const std::string& who() const { return m_who; }  // "user@host:pid"
    Session& session() { return m_session; }
    SignalInbox& inbox() { return *m_inbox; }
    Sleeper& sleeper() { return m_sleeper; }
    Teller& teller() { return m_teller; }
    Gate& gate() { return m_gate; }
    Ending& ending() { return m_ending; }

private:
    AtTheGate(std::unique_ptr<SignalInbox> inbox, SignalSleeper sleeper, Session session,
              const Common& common, const LimitOptions& limit, GateOptions options, std::string who);

    std::unique_ptr<SignalInbox> m_inbox;
    SignalSleeper m_sleeper;
    Session m_session;
    std::string m_who;
    Teller m_teller;
    Gate m_gate;
    Ending m_ending;
};

}  // namespace jobthrottle
