// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "core/key.hpp"
#include "store/store.hpp"

namespace jobthrottle {

using OpenStore = std::function<Result<std::unique_ptr<Store>>()>;

// Renews leases in a thread of its own, which starts with the first, through a store that it opens. All
// signals are blocked in that thread.
class Renewer {
public:
    // What is given is called in that thread. The store is told that `command` lives as long as the attempt.
    Renewer(OpenStore open_own, pid_t command, std::function<BootTime()> clock);
    // A call under way is waited for, others that were asked for are not made.
    ~Renewer();
    Renewer(const Renewer&) = delete;
    Renewer& operator=(const Renewer&) = delete;

    struct Wanted {
        std::size_t lease = 0;  // the caller's own number of it
        Key key;
        Renewal renewal;
    };
    struct Answered {
        std::size_t lease = 0;
        BootTime asked{};  // just before the question was sent
        Result<LeaseAnswer> answer;
    };
    // Does not block. Each is answered once.
    void ask(std::vector<Wanted> wanted);
    std::vector<Answered> take_answers();

private:
    using Opened = std::unique_ptr<Store>;
    Result<void> start();
    void work();
    void one_round(Opened& store, const std::vector<Wanted>& round);
    Result<LeaseAnswer> renew(Opened& store, const Wanted& wanted) const;
    bool deliver(Answered answered);  // false: it is time to go

    OpenStore m_open_own;
    pid_t m_command;
    std::function<BootTime()> m_clock;
    std::mutex m_mutex;  // of what follows
    std::condition_variable m_changed;
    std::vector<Wanted> m_wanted;
    std::vector<Answered> m_answered;
    bool m_stop = false;
    std::thread m_thread;
};

}  // namespace jobthrottle
