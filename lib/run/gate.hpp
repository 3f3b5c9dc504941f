// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "process/sleeper.hpp"
#include "run/claim.hpp"
#include "run/events.hpp"
#include "run/lease_keeper.hpp"
#include "store/store.hpp"

namespace jobthrottle {

// What a job brings to the gate.
struct GateOptions {
    std::vector<Claim> claims;                // at least one; the job starts when all of its keys let it
    std::size_t pause_key = 0;                // the claim whose key a refusal pauses
    std::optional<std::int64_t> max_waiting;  // 75 at once where so many wait already
    std::vector<LeaseId> ancestors;           // leases of the runs that this one runs in
    std::optional<pid_t> holder;  // its leases last as long as this process lives, where the store can see it
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
    bool unthrottled = false;       // the store was away and the policy is `open`
    std::vector<HeldLease> leases;  // to be released when the attempt ends
    StartId start = 0;              // names the attempt: its leases, too
};
// Not now; the job has no place any more, except with a ticket of its own.
struct Throttled {
    enum class Why { no_wait, too_long, waited_out, crowded };
    Why why = Why::no_wait;
    Key key;            // that holds it up
    Answer answer;      // the last one, of this key
    Duration wait{};    // until a start is possible
    Duration waited{};  // by this job for the throttle
};
struct Interrupted {
    int signal = 0;
};
// It could never start: no_limit, conflict, too_costly or nested, see AnswerKind.
struct Unjudged {
    Key key;
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
    Gate(GateOptions options, Store& store, OpenFallback fallback, Sleeper& sleeper, Events& events);

    // Waits for one start. The wait counts against max_wait together with all before it.
    Admission pass();

    // Ends the attempt that was admitted: releases its leases, and gives its start back where successes are
    // counted and it was none. Best effort: what cannot be told runs out.
    void attempt_over(const Admitted&, bool succeeded);

    // Pauses the key (pause_key) where the job's starts come from. False: no store could be told; the pause
    // is then kept in this gate and pass() waits for its end.
    Result<PauseAnswer> pause(const PauseRequest&);

    Duration waited() const { return m_waited; }
    // How much longer this job may wait from now on; zero with no_wait.
    Duration may_still_wait() const;
    // The place in line of the last pass(): names the job's attempt to `jobthrottle refused`.
    TicketId place() const { return m_place; }
    // Of the key that held it up last, or of the first.
    const std::optional<Answer>& last_answer() const { return m_last; }
    const Key& key() const { return m_options.claims.front().key; }
    const Key& paused_key() const { return m_options.claims[m_options.pause_key].key; }
    const std::vector<Claim>& claims() const { return m_options.claims; }
    const std::vector<LeaseId>& ancestors() const { return m_options.ancestors; }
    // Opens another connection to the store that store() is, given how to open one to the store that it began
    // with.
    OpenStore opener(const OpenStore& primary) const { return m_fallback ? m_open_fallback : primary; }
    Store& store() { return m_fallback ? *m_fallback : m_store; }

private:
    struct Wait;                               // one pass() under way
    using Outcome = std::optional<Admission>;  // nothing: go on

    Outcome ask_once(Wait&);
    Outcome use_answers(Wait&, const std::vector<Answer>&, BootTime asked);
    Outcome use_start(Wait&, const std::vector<Answer>&, BootTime asked);
    Outcome line_up(Wait&, const std::vector<Answer>&);
    Outcome store_failed(Wait&, const Error&);
    Outcome apply_policy(Wait&, const Error&);
    Outcome sleep_until(Wait&, BootTime due, const std::vector<int>& wakes = {});
    Outcome wait_own_pause(Wait&);
    Result<std::vector<Answer>> ask_primary_or_fallback(Wait&);
    Result<void> open_fallback(const Error& why);
    std::vector<int> listen(const Wait&, const std::vector<Answer>&);
    HeldLease lease_of(const Claim&, StartId, const Answer&, BootTime asked) const;
    void confirm(std::vector<HeldLease>&);
    Duration first_lock(Duration lock_for);
    void release(const std::vector<HeldLease>&, bool failed);
    void tell_untold_pause();
    void tell_differences(const Wait&, const std::vector<Answer>&);
    Throttled throttled(Wait&, Throttled::Why);
    Interrupted interrupted(Wait&, int signal);
    std::vector<Asked> questions_for(const Wait&);
    Question question_for(const Wait&, const Claim&);
    WaitStatus status_of(const Wait&) const;
    void give_place_back(Wait&);
    bool wants_concurrency() const;
    const std::string& processes();
    Duration waited_now(const Wait&) const;
    Duration left(const Wait&) const;  // of max_wait

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
    std::size_t m_last_claim = 0;  // whose answer it is
    bool m_at_once = false;        // a key has a concurrency, as the store says
    std::optional<std::string> m_processes;
    Duration m_waited{};
    TicketId m_place = 0;
    std::vector<bool> m_told_numbers;  // by claim
    bool m_told_lost = false;
};

// Random, with the top bit clear.
std::uint64_t random_id();
// Even over 0 .. 1, for spreading waits.
double random_part();

}  // namespace jobthrottle
