// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "store/local/environment.hpp"
#include "store/local/key_table.hpp"
#include "store/local/local_store.hpp"
#include "store/local/lock_file.hpp"
#include "store/local/place.hpp"

namespace jobthrottle::local {

// The two files of a store, opened when they are needed: runs transactions under the lock, and sees to it
// that the data file is whole, of this boot, and the one that all others use.
class Session {
public:
    Session(const LocalOptions& options, const std::string& folder);

    // Runs `body` in one transaction, committed when it has written; it may run more than once, and only what
    // the last run did counts. Errors: unavailable, interrupted, refused.
    using Body = std::function<void(Transaction&, const Moment&)>;
    Result<void> transact(const Body& body);

    // Of files beside the store's own: where they are and how their names begin, and whose they are.
    const std::string& stem() const { return m_stem; }
    FilePlan rights() const;  // REQUIRES: a transaction is under way

    // From now on no call takes longer than this, and nothing interrupts one.
    void hurry(Duration longest);

    // Closes both files; the next call opens them again.
    void close();

private:
    Result<LockFile::Held> lock();
    Result<void> open_lock();
    Result<void> transact_locked(const Body& body);
    Result<void> learn_boot();
    Result<void> make_ready();
    Result<void> open_data(const std::optional<TrustToken>& token);
    Result<void> examine_data();
    Result<void> make_data();
    Result<void> replace_data();
    Result<void> take_draft();
    void trust_data() const;
    Failure run(const Body& body);
    Error error_of(const Failure& failure) const;
    Moment moment() const;
    std::string draft_path() const { return m_data_path + ".new"; }

    LocalOptions m_options;
    std::string m_folder, m_stem, m_lock_path, m_data_path;
    std::uint64_t m_boot = 0;  // 0: not learned yet
    std::optional<LockFile> m_lock;
    Environment m_environment;
    bool m_fresh = false;  // opened, and nothing written since
    bool m_noticed = false;
};

}  // namespace jobthrottle::local
