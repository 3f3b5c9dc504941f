// SPDX-License-Identifier: MIT
#include "cli/at_the_gate.hpp"

#include "cli/machine.hpp"

namespace jobthrottle {

AtTheGate::AtTheGate(std::unique_ptr<SignalInbox> inbox, SignalSleeper sleeper, Session session,
                     const Common& common, const LimitOptions& limit, GateOptions options, std::string who)
    : m_inbox(std::move(inbox)),
      m_sleeper(std::move(sleeper)),
      m_session(std::move(session)),
      m_who(std::move(who)),
      m_teller(common, limit),
      m_gate(limit.key, std::move(options), m_session.store(), m_session.fallback(), m_sleeper, m_teller),
      m_ending(common, limit, m_gate, m_teller) {
    m_teller.look_into(m_gate, m_session);
}

Result<std::unique_ptr<AtTheGate>> AtTheGate::open(const Common& common, const LimitOptions& limit,
                                                   const std::string& name, GateOptions wanted) {
    auto opened = SignalInbox::open();
    if (!opened) return opened.error();
    auto inbox = std::make_unique<SignalInbox>(std::move(opened).value());
    auto sleeper = SignalSleeper::open(*inbox);
    if (!sleeper) return sleeper.error();
    auto session = Session::open(common, Purpose::throttle, inbox->fd());
    if (!session) {
        Error error = session.error();
        if (error.kind == ErrorKind::refused) error.message += ". Nothing was run.";
        return error;
    }

    const Settings& settings = common.settings;
    std::string who = who_runs();
    wanted.rate = limit.rate;
    wanted.pause_only = limit.pause_only;
    wanted.override_registered = limit.override_registered;
    wanted.no_wait = wanted.no_wait || settings.max_wait.value == Duration::zero();
    wanted.max_wait = settings.max_wait.value;
    wanted.on_store_error = settings.on_store_error.value;
    wanted.store_patience = settings.store_patience.value;
    wanted.who = name + " " + who;
    return std::unique_ptr<AtTheGate>(new AtTheGate(std::move(inbox), std::move(sleeper).value(),
                                                    std::move(session).value(), common, limit,
                                                    std::move(wanted), std::move(who)));
}

}  // namespace jobthrottle
