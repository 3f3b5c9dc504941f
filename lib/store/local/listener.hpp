// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "core/key.hpp"
#include "store/local/records.hpp"
#include "store/local/wake_files.hpp"
#include "store/store.hpp"

namespace jobthrottle::local {

// What the waiters of one store object sleep on: a FIFO for each place in line that has a wake-up, and the
// processes of those who hold what they wait for, whose deaths the kernel tells.
class Listener final : public Waker {
public:
    // So many processes are watched at the most; the deaths of others are found by asking.
    static constexpr std::size_t k_most_watched = 16;

    explicit Listener(const std::string& stem) : m_files(stem) {}

    // Before a decision, within its transaction: what woke these places so far is answered by it.
    void begin(const std::vector<Asked>&);
    // In it. Who is asking lives, and has his file when it is over.
    bool wake(TicketId) override;
    // After it, within its transaction, so that no waker can miss the file: makes it where the place has got
    // a wake-up, and notes who holds what. False: errno says why it could not.
    bool prepare(const Asked&, const Answer&, const LocalRecords&, const std::function<FilePlan()>& rights);
    // Once it has counted, or has failed: lets go of what is not slept on any more.
    void end(bool counted);
    void drop(const Key&, TicketId place);

    // See Store::listen().
    std::vector<int> listen(const std::vector<WakeUp>&);

private:
    struct Holding {
        LeaseId id = 0;
        std::string processes;
    };
    struct Waiting {
        WakeFile file;
        std::map<Key, std::vector<Holding>> keys;
    };
    bool make_file(TicketId place, const std::function<FilePlan()>& rights);
    bool watch_holder(const Holding&);

    WakeFiles m_files;
    std::map<TicketId, Waiting> m_waiting;
    // Of the decision under way: who asks, who of them was woken in it, and whose wait it ended.
    std::set<TicketId> m_asking, m_woken;
    std::vector<std::pair<Key, TicketId>> m_over;
    std::vector<Fd> m_watched;
    std::set<LeaseId> m_found_dead;  // by listen(): it ends a sleep for them once
};

}  // namespace jobthrottle::local
