// SPDX-License-Identifier: MIT
#include "store/local/session.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/time.hpp"
#include "store/local/bytes.hpp"
#include "store/local/data_file.hpp"
#include "store/local/examine.hpp"

namespace jobthrottle::local {

namespace {

constexpr std::int64_t k_wall_drift_us = 1'000'000;

// Nothing in a place without /proc. Error (refused): it could not be read now.
Result<std::optional<std::string>> system_boot_id() {
    const Fd fd(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    if (!fd && (errno == ENOENT || errno == EACCES)) return std::optional<std::string>();
    std::array<char, 64> text{};
    const ssize_t size = fd ? read(fd.get(), text.data(), text.size()) : -1;
    if (size < 0) return system_error("cannot read the boot id of this machine", errno);
    return std::optional<std::string>(std::string(text.data(), static_cast<std::size_t>(size)));
}

std::uint64_t boot_mark(const std::string& id) {
    return checksum("boot", id);
}

}  // namespace

Session::Session(const LocalOptions& options, const std::string& folder)
    : m_options(options),
      m_folder(folder),
      m_stem(folder + "/" + file_stem(options.prefix)),
      m_lock_path(m_stem + ".lock"),
      m_data_path(m_stem + ".mdb") {}

void Session::close() {
    m_environment.close();
    m_lock.reset();
}

void Session::hurry(Duration longest) {
    m_options.command_timeout = std::min(m_options.command_timeout, longest);
    m_options.interrupted = nullptr;
}

Moment Session::moment() const {
    const auto& hooks = m_options.hooks;
    return {hooks.clock_us ? hooks.clock_us() : BootClock::now().time_since_epoch().count(),
            hooks.wall_us ? hooks.wall_us() : wall_now().time_since_epoch().count()};
}

FilePlan Session::rights() const {
    const struct stat lock = m_lock->status();
    return {static_cast<mode_t>(lock.st_mode & 0666), lock.st_uid, lock.st_gid};
}

Error Session::error_of(const Failure& failure) const {
    switch (failure.fault) {
        case Fault::newer:
            return refused_error(
                m_data_path +
                " was written by a newer jobthrottle: use that one here, too, or name another "
                "folder");
        case Fault::system:
            return system_error("cannot use " + m_data_path, failure.code);
        case Fault::none:
        case Fault::map_full:
        case Fault::damaged:
            break;
    }
    return refused_error("cannot use " + m_data_path + ": it is torn, and so is the file made in its place");
}

Result<void> Session::transact(const Body& body) {
    const auto held = lock();
    if (!held) return held.error();
    auto done = transact_locked(body);
    if (!done) drop_limit_signal();
    return done;
}

Result<void> Session::transact_locked(const Body& body) {
    if (auto known = learn_boot(); !known) return known;
    for (bool replaced = false;;) {
        if (auto ready = make_ready(); !ready) return ready;
        Failure failure = run(body);
        if (failure.fault == Fault::map_full) {
            failure = m_environment.grow();
            if (!failure) continue;
        }
        if (!failure) return {};
        m_environment.close();
        if (failure.fault != Fault::damaged || replaced) return error_of(failure);
        if (auto result = replace_data(); !result) return result;
        replaced = true;
    }
}

Result<void> Session::learn_boot() {
    if (m_boot != 0) return {};
    std::optional<std::string> id;
    if (m_options.hooks.boot_id) {
        id = m_options.hooks.boot_id();
    } else {
        auto read = system_boot_id();
        if (!read) return read.error();
        id = *read;
    }
    // Where it is not known, others that share the file may know it.
    const auto token = id ? std::nullopt : m_lock->token();
    m_boot = token ? token->boot : boot_mark(id.value_or(std::string()));
    return {};
}

Failure Session::run(const Body& body) {
    const LockFile::InUse in_use(*m_lock);
    Transaction txn(m_environment);
    const Moment now = moment();
    std::optional<StoreRecord> record;
    if (m_fresh) {
        record = read_store_record(txn);
        if (!record) txn.fail_damaged();
    }
    body(txn, now);
    if (txn.failure() || !txn.has_written()) return txn.failure();
    if (m_fresh) {
        record = read_store_record(txn);  // the body may have changed it
        const std::int64_t wall_minus_boot = now.wall_us - now.now_us;
        if (record && std::abs(record->wall_minus_boot_us - wall_minus_boot) > k_wall_drift_us) {
            record->wall_minus_boot_us = wall_minus_boot;
            put_store_record(txn, *record);
        }
    }
    if (!txn.commit()) return txn.failure();
    m_fresh = false;
    trust_data();
    return {};
}

Result<LockFile::Held> Session::lock() {
    for (;;) {
        if (m_lock && !m_lock->is_ours()) close();
        if (!m_lock) {
            if (const auto opened = open_lock(); !opened) return opened.error();
        }
        {
            auto held = m_lock->acquire(m_options.command_timeout, m_options.interrupted);
            if (!held || m_lock->is_in_place()) return held;
        }
        close();  // somebody has removed the folder while we waited
    }
}

// The folder may have gone during a long sleep: a job that waits makes it again, as one that comes now would.
Result<void> Session::open_lock() {
    // But for the one of the whole system, which is made with its group, by an administrator.
    const bool systems = m_options.path.empty() && m_folder == m_options.system_folder;
    if (!systems && !m_options.look_only) {
        if (auto made = make_folder(m_folder); !made) return made;
    }
    auto opened = LockFile::open(m_lock_path);
    if (!opened) return opened.error();
    m_lock.emplace(std::move(opened).value());
    return {};
}

Result<void> Session::make_ready() {
    const auto token = m_lock->token();
    if (m_environment.is_open()) {
        struct stat data {};
        const bool there = fstat(m_environment.fd(), &data) == 0 && data.st_nlink > 0;
        if (there && token == token_of(data, m_boot)) return {};
        m_environment.close();
    }
    return open_data(token);
}

Result<void> Session::open_data(const std::optional<TrustToken>& token) {
    struct stat data {};
    Result<void> done;
    if (lstat(m_data_path.c_str(), &data) != 0) {
        if (errno != ENOENT) return system_error("cannot open " + m_data_path, errno);
        done = make_data();
    } else if (!S_ISREG(data.st_mode)) {
        done = replace_data();
    } else if (token != token_of(data, m_boot)) {
        done = examine_data();
    }
    if (!done) return done;
    if (const auto failure = m_environment.open(m_data_path)) return error_of(failure);
    m_fresh = true;
    return {};
}

Result<void> Session::examine_data() {
    if (access(m_data_path.c_str(), R_OK | W_OK) != 0)
        return system_error("cannot open " + m_data_path + " for writing", errno);
    const ExaminePlan plan{m_data_path, draft_path(), rights(), m_boot, moment()};
    const Examination found = examine(plan, m_options.command_timeout);
    switch (found.finding) {
        case Finding::whole:
            trust_data();
            return {};
        case Finding::earlier:
            return take_draft();
        case Finding::damaged:
            return replace_data();
        case Finding::newer:
            return error_of({Fault::newer, 0});
        case Finding::system:
            return error_of({Fault::system, found.code});
        case Finding::unfinished:
            break;
    }
    return unavailable_error("the check of " + m_data_path + " did not end in time");
}

Result<void> Session::replace_data() {
    const auto name = set_aside(m_data_path, moment().wall_us);
    if (!name) return name.error();
    if (m_options.notice && !m_noticed) {
        m_options.notice(m_data_path + " was torn or is no store of ours: set aside as " + *name +
                         ", and begun anew");
    }
    m_noticed = true;
    return make_data();
}

Result<void> Session::make_data() {
    const Moment now = moment();
    StoreRecord record;
    record.boot = m_boot;
    record.wall_minus_boot_us = now.wall_us - now.now_us;
    if (const auto failure = make_data_file(draft_path(), rights(), record, Environment::k_first_map_bytes))
        return failure.fault == Fault::system ? system_error("cannot make " + m_data_path, failure.code)
                                              : error_of(failure);
    return take_draft();
}

Result<void> Session::take_draft() {
    if (rename(draft_path().c_str(), m_data_path.c_str()) != 0)
        return system_error("cannot make " + m_data_path, errno);
    trust_data();
    return {};
}

void Session::trust_data() const {
    struct stat data {};
    const int code =
        m_environment.is_open() ? fstat(m_environment.fd(), &data) : stat(m_data_path.c_str(), &data);
    if (code == 0) m_lock->put_token(token_of(data, m_boot));
}

}  // namespace jobthrottle::local
