// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "core/decide.hpp"
#include "core/job_options.hpp"
#include "core/key.hpp"
#include "core/report.hpp"
#include "process/child.hpp"

namespace jobthrottle {

// How a wait stands.
struct WaitStatus {
    Key key;
    Answer answer;      // the last one
    BootTime answered;  // when it came: answer.earliest counts from there
    Duration waited{};  // by this job for the throttle, all its waits together
    bool asked = true;  // false: the store has not answered yet
};

struct RefusalNotice {
    Key key;
    PauseNote note;
    Duration pause{};         // of the key, from now; what is left of the longest
    bool ill_formed = false;  // the delay asked for could not be read
    bool lines_up_again = false;
    // The pause is longer than the job may wait: it ends without another attempt, and its end tells the rest.
    bool outlasts_wait = false;
};

// An attempt that failed, and is followed by another.
struct FailureNotice {
    Key key;
    std::string job;  // its name
    ChildEnd end;
    int tries_left = 0;
    Duration backoff{};  // the wait before the next
};

// What a run has to tell while it goes on. lib/ says nothing itself: the program turns these into lines.
// Calls come from the run's own thread and must be quick.
class Events {
public:
    Events() = default;
    virtual ~Events() = default;
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;

    // The store has answered a question of this job.
    virtual void answered(const Key&, const Answer&) = 0;
    // Before every sleep of a wait, and each time that the status may be worth telling again.
    virtual void waiting(const WaitStatus&) = 0;
    // When to call waiting() next while nothing else happens; after this long at the latest.
    virtual Duration waiting_interval() const = 0;
    // USR1: one line now.
    virtual void status(const WaitStatus&) = 0;
    virtual void wait_over() = 0;

    // The attempt-th attempt (from 1) of this program is about to start; and how it ended.
    virtual void attempt_begins(int attempt, const std::string& program) = 0;
    virtual void attempt_ended(int attempt, const ChildEnd&) = 0;
    virtual void refused(const RefusalNotice&) = 0;
    // The key's numbers differ from those that another job came with, or from what is registered.
    virtual void other_numbers(const Key&, const Answer&) = 0;
    // The store lost this job's place; it lines up again.
    virtual void state_lost(const Key&, Duration waited) = 0;
    // The store is away; `policy` says what happens: local, open, or closed for "asks again until patience
    // ends".
    virtual void store_away(const std::string& store, const Error&, std::optional<OnStoreError> policy) = 0;
    virtual void store_back(const std::string& store) = 0;
    // A lease of the command under way was lost this long ago; `killed`: the command is being ended before it
    // could be another's, and `lost_for` counts from there.
    virtual void lease_lost(const Key&, Duration lost_for, bool killed) = 0;
    // It was held again: there was room.
    virtual void lease_retaken(const Key&, Duration lost_for) = 0;
    virtual void failed_will_retry(const FailureNotice&) = 0;
    // Something went wrong that the run can go on without.
    virtual void warning(const std::string& text) = 0;
};

}  // namespace jobthrottle
