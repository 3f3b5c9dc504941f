// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/attempts.hpp"
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
    bool forgotten = false;       // false: there are live waiters or leases and `force` was not given
    bool known = false;           // there was something
    std::vector<Waiter> waiting;  // who was in the way, or who lost a place
    std::vector<Holder> holding;  // whose lease was in the way, or is lost
};

// Who of the key is in the way of forgetting it.
ForgetAnswer in_the_way(const KeyReport&);
// What forget() does to the records of one key, for stores that have them at hand.
ForgetAnswer forget_records(KeyRecords&, const KeyReport&, bool force);

// Likewise release_leases(): those that were held, by the key's own time.
std::vector<Holder> release_holders(KeyRecords&, std::int64_t store_now_us, bool only_dead);

// What one of a job's keys is asked.
struct Asked {
    Key key;
    Question question;
};

// A wake-up that a ticket has, as the answer to its question said.
struct WakeUp {
    Key key;
    TicketId place = 0;
    std::int64_t wake = 0;
};

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

    // May a job start? One decision over all of its keys, see core/decide.hpp; an answer for each, in order.
    // REQUIRES: at least one, no key twice.
    virtual Result<std::vector<Answer>> ask(const std::vector<Asked>&) = 0;
    Result<Answer> ask(const Key&, const Question&);  // of one key
    // Gives a place in the line back; fine when there is none.
    virtual Result<void> cancel(const Key&, TicketId) = 0;

    // Descriptors, borrowed until the next call of this store: one that is readable says that it is worth
    // asking again before the time that was told. They may say so without need. An empty list: nobody will
    // wake the waiter. No round trip is waited for.
    virtual Result<std::vector<int>> listen(const std::vector<WakeUp>&) = 0;

    // Attempts under way, see core/attempts.hpp.
    virtual Result<LeaseAnswer> renew(const Key&, const Renewal&) = 0;
    virtual Result<LeaseAnswer> release(const Key&, const Release&) = 0;
    virtual Result<std::vector<Holder>> release_leases(const Key&, bool only_dead) = 0;
    virtual Result<SettleAnswer> settle(const Key&, const Settlement&) = 0;
    virtual Result<bool> give_back(const Key&, const GiveBack&) = 0;
    // What this store keeps with a lease so that it can see its holders live: text for Question::processes
    // and Renewal::processes, empty where it cannot. A pid of 0 or less stands for nobody.
    virtual std::string processes(pid_t wrapper, pid_t command) const = 0;

    virtual Result<PauseAnswer> pause(const Key&, const PauseRequest&) = 0;
    virtual Result<PauseAnswer> resume(const Key&) = 0;

    // What is registered with the key, or nothing after it; returns what was registered before.
    virtual Result<std::optional<Registration>> set_registration(const Key&,
                                                                 const std::optional<Registration>&) = 0;
    virtual Result<std::optional<Registration>> registration(const Key&) = 0;

    virtual Result<KeyReport> inspect(const Key&) = 0;
    // Every known key that matches the glob pattern (`*`, `?`, `[a-z]`, backslash quotes), in byte order.
    virtual Result<std::vector<KeySummary>> keys(const std::string& pattern) = 0;
    // Drops window, pause, note, waiting list and leases; never what is registered. Without `force` it leaves
    // a key alone that has tickets in line or leases held.
    virtual Result<ForgetAnswer> forget(const Key&, bool force) = 0;

    // A question whose answer never came may count all the same, even later: a server may be asleep. False: a
    // question that failed did not count.
    virtual bool may_count_late() const { return false; }

    // For messages: the store's URL with any password masked.
    virtual std::string name() const = 0;
    // For a process that is about to end: from now on no call takes longer than this, and a signal that is
    // pending no longer ends one.
    virtual void hurry(Duration longest) = 0;
    // Lets go of connections and files before a long sleep; the next call takes them up again.
    virtual void rest() = 0;
};

}  // namespace jobthrottle
