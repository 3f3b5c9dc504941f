// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/decide.hpp"
#include "core/key.hpp"
#include "core/report.hpp"

namespace jobthrottle {

// One line of `keys`: a key and how it stands.
struct KeySummary {
    Key key;
    KeyReport report;
};

struct ForgetAnswer {
    bool forgotten = false;       // false: there are live waiters and `force` was not given
    bool known = false;           // there was something
    std::vector<Waiter> waiting;  // who was in the way, or who lost a place
};

// What forget() does to the records of one key, for stores that have them at hand.
ForgetAnswer forget_records(KeyRecords&, const KeyReport&, bool force);

// Keeps the state of all keys of one prefix, and the clock they are judged by. Every call is one atomic
// decision and takes a bounded time (connect and command time-outs), so that no caller hangs on a store.
//
// Errors, of every call: `unavailable` when the store is away (cannot be reached, does not answer in time, is
// starting or failing over): the policy of --on-store-error speaks of this kind only. `refused` when it is
// there and says no: missing rights, full, a record of a wrong type or of a newer version. After an error of
// `ask` it is not known whether the question counted; asked again with `fresh` unset it counts once.
//
// Time: every instant belongs to the store's clock and stays inside; answers hold durations from now on. A
// caller measures them with BootClock from the moment it asked, or got the answer, whichever is the safe side
// for it.
//
// Not thread-safe. A store holds no lock and no transaction between two calls.
class Store {
public:
    virtual ~Store() = default;

    // May a job start? See core/decide.hpp.
    virtual Result<Answer> ask(const Key&, const Question&) = 0;
    // Gives a place in the line back; fine when there is none.
    virtual Result<void> cancel(const Key&, TicketId) = 0;

    virtual Result<PauseAnswer> pause(const Key&, const PauseRequest&) = 0;
    virtual Result<PauseAnswer> resume(const Key&) = 0;

    // What is registered with the key, or nothing after it; returns what was registered before.
    virtual Result<std::optional<Registration>> set_registration(const Key&,
                                                                 const std::optional<Registration>&) = 0;
    virtual Result<std::optional<Registration>> registration(const Key&) = 0;

    virtual Result<KeyReport> inspect(const Key&) = 0;
    // Every known key that matches the glob pattern (`*`, `?`, `[a-z]`, backslash quotes), in byte order.
    virtual Result<std::vector<KeySummary>> keys(const std::string& pattern) = 0;
    // Drops window, pause, note and waiting list; never what is registered. Without `force` it leaves a key
    // alone that has tickets in line.
    virtual Result<ForgetAnswer> forget(const Key&, bool force) = 0;

    // For messages: the store's URL with any password masked.
    virtual std::string name() const = 0;
    // For a process that is about to end: from now on no call takes longer than this, and a signal that is
    // pending no longer ends one.
    virtual void hurry(Duration longest) = 0;
    // Lets go of connections and files before a long sleep; the next call takes them up again.
    virtual void rest() = 0;
};

}  // namespace jobthrottle
