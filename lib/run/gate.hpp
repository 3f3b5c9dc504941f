// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "process/sleeper.hpp"
#include "run/events.hpp"
#include "store/store.hpp"

namespace jobthrottle {

// What a job brings to the gate.
struct GateOptions {
    std::optional<Rate> rate;
    bool pause_only = false;
    bool override_registered = false;
    std::optional<TicketId> ticket;        // a caller's own; none: a random one for this wait
    Duration ticket_keep = k_caller_keep;  // --ticket-for
    bool no_wait = false;
    bool peek = false;  // ask, take nothing
    std::optional<Duration> max_wait =
        std::chrono::hours{1};  // all waits of the job together; none: for ever
    OnStoreError on_store_error = OnStoreError::automatic;
    Duration store_patience = std::chrono::seconds{60};
    std::string who;  // "NAME user@host:pid"
};

struct Admitted {
    bool unthrottled = false;  // the store was away and the policy is `open`
};
// Not now; the job has no place any more, except with a ticket of its own.
struct Throttled {
    enum class Why { no_wait, too_long, waited_out };
    Why why = Why::no_wait;
    Answer answer;      // the last one
    Duration wait{};    // until a start is possible
    Duration waited{};  // by this job for the throttle
};
struct Interrupted {
    int signal = 0;
};
// No limit to judge by (no_limit), or numbers that cannot stand beside those registered (conflict).
struct Unjudged {
    Answer answer;
};
// An Error is the store's: `unavailable` or `refused`.
using Admission = std::variant<Admitted, Throttled, Interrupted, Unjudged, Error>;

// Opens the local store that stands in for one that is away.
using OpenFallback = std::function<Result<std::unique_ptr<Store>>()>;

// The gate a job passes before each attempt: asks the store, sleeps, asks again. The one place that waits for
// a start. All it is given is borrowed.
class Gate {
public:
    Gate(Key key, GateOptions options, Store& store, OpenFallback fallback, Sleeper& sleeper, Events& events);

    // Waits for one start. The wait counts against max_wait together with all before it.
    Admission pass();

    // Pauses the key where the job's starts come from. False: no store could be told; the pause is then kept
    // in this gate and pass() waits for its end.
    Result<PauseAnswer> pause(const PauseRequest&);

    Duration waited() const { return m_waited; }
    // How much longer this job may wait from now on; zero with no_wait.
    Duration may_still_wait() const;
    // The place in line of the last pass(): names the job's attempt to `jobthrottle refused`.
    TicketId place() const { return m_place; }
    const std::optional<Answer>& last_answer() const { return m_last; }
    Store& store() { return m_fallback ? *m_fallback : m_store; }

private:
    struct Wait;                               // one pass() under way
    using Outcome = std::optional<Admission>;  // nothing: go on

    Outcome ask_once(Wait&);
    Outcome use_answer(Wait&, const Answer&, BootTime asked);
    Outcome use_start(Wait&, const Answer&, BootTime asked);
    Outcome line_up(Wait&, const Answer&, BootTime answered);
    Outcome store_failed(Wait&, const Error&);
    Outcome apply_policy(Wait&, const Error&);
    Outcome sleep_until(Wait&, BootTime due);
    Outcome wait_own_pause(Wait&);
    Result<Answer> ask_primary_or_fallback(Wait&);
    Result<void> open_fallback(const Error& why);
    void tell_untold_pause();
    void tell_differences(const Wait&, const Answer&);
    Throttled throttled(Wait&, Throttled::Why, const Answer&);
    Interrupted interrupted(Wait&, int signal);
    Question question_for(const Wait&) const;
    WaitStatus status_of(const Wait&) const;
    void give_place_back(Wait&);
    Duration waited_now(const Wait&) const;
    Duration left(const Wait&) const;  // of max_wait

    Key m_key;
    GateOptions m_options;
    Store& m_store;
    OpenFallback m_open_fallback;
    Sleeper& m_sleeper;
    Events& m_events;
    std::unique_ptr<Store> m_fallback;  // in use while the store is away
    BootTime m_try_primary_at{};
    std::optional<PauseRequest> m_untold_pause;  // no store could be told
    BootTime m_untold_pause_until{};
    std::optional<Answer> m_last;
    Duration m_waited{};
    TicketId m_place = 0;
    bool m_told_numbers = false;
    bool m_told_lost = false;
};

// Random, with the top bit clear.
std::uint64_t random_id();
// Even over 0 .. 1, for spreading waits.
double random_part();

}  // namespace jobthrottle
