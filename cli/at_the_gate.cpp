// SPDX-License-Identifier: MIT
#include "cli/at_the_gate.hpp"

#include <unistd.h>

#include <cstdlib>

#include "base/text.hpp"
#include "cli/machine.hpp"
#include "run/run.hpp"

namespace jobthrottle {

namespace {

// The leases of the runs that this one is part of, as they told it.
std::vector<LeaseId> ancestors() {
    std::vector<LeaseId> leases;
    const char* list = std::getenv("JOBTHROTTLE_LEASES");
    if (list == nullptr) return leases;
    for (const auto token : split(list, ',')) {
        if (const auto lease = start_of_token(token)) leases.push_back(*lease);
    }
    return leases;
}

// What a process keeps that the store does not see is renewed for it, so that it need not last long.
void keep_short_where_unseen(const Store& store, GateOptions& wanted) {
    const bool follows = wanted.holder && *wanted.holder != getpid();
    if (!follows || !store.processes(*wanted.holder, 0).empty()) return;
    for (Claim& claim : wanted.claims) {
        if (claim.lock_for == k_admit_lock_for) claim.lock_for = k_run_lock_for;
    }
}

}  // namespace

AtTheGate::AtTheGate(std::unique_ptr<SignalInbox> inbox, SignalSleeper sleeper, Session session,
                     const Common& common, const LimitOptions& limit, GateOptions options, std::string who)
    : m_inbox(std::move(inbox)),
      m_sleeper(std::move(sleeper)),
      m_session(std::move(session)),
      m_who(std::move(who)),
      m_teller(common, limit),
      m_gate(std::move(options), m_session.store(), m_session.fallback(), m_sleeper, m_teller),
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
    wanted.claims = limit.claims;
    wanted.pause_key = limit.pause_key;
    wanted.max_waiting = limit.max_waiting;
    wanted.ancestors = ancestors();
    wanted.no_wait = wanted.no_wait || settings.max_wait.value == Duration::zero();
    wanted.max_wait = settings.max_wait.value;
    wanted.on_store_error = settings.on_store_error.value;
    wanted.store_patience = settings.store_patience.value;
    wanted.who = name + " " + who;
    keep_short_where_unseen(session->store(), wanted);
    return std::unique_ptr<AtTheGate>(new AtTheGate(std::move(inbox), std::move(sleeper).value(),
                                                    std::move(session).value(), common, limit,
                                                    std::move(wanted), std::move(who)));
}

}  // namespace jobthrottle
