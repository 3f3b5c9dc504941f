// SPDX-License-Identifier: MIT
#include "store/local/examine.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "store/local/data_file.hpp"
#include "store/local/page_check.hpp"
#include "store/local/records.hpp"
#include "store/local/transaction.hpp"

namespace jobthrottle::local {

namespace {

int g_report_fd = -1;

void report(const Examination& examination) {
    if (write(g_report_fd, &examination, sizeof examination) < 0) _exit(1);
    _exit(0);
}

void report_crash(int) {
    report({Finding::damaged, 0});
}

Examination examination_of(const Failure& failure) {
    switch (failure.fault) {
        case Fault::none:
            return {Finding::whole, 0};
        case Fault::newer:
            return {Finding::newer, 0};
        case Fault::system:
            return {Finding::system, failure.code};
        case Fault::map_full:
            return {Finding::system, ENOSPC};
        case Fault::damaged:
            break;
    }
    return {Finding::damaged, 0};
}

// Every record, in order, with its checksum, and as many as the file says it holds.
bool reads_through(Transaction& txn, std::size_t records) {
    std::size_t count = 0;
    std::string last;
    for (auto entry = txn.first_from({}); entry; entry = txn.next(), ++count) {
        if (count > 0 && entry->key <= last) return false;
        last = entry->key;
    }
    return !txn.failure() && count == records;
}

struct Survivor {
    std::string name;
    std::optional<Registration> registration;
    std::string note;
    std::optional<Header> header;  // of a pause that goes on
};

// The pause of a header of an earlier boot, if it goes on: its end by wall time, but not more than was left
// of it when the key was last seen.
std::optional<Header> pause_after_reboot(const Header& old, std::int64_t wall_minus_boot_us,
                                         const Moment& moment) {
    Header header;
    header.birth_us = header.seen_us = moment.now_us;
    header.paused_by_hand = old.paused_by_hand;
    header.paused_until_us = k_forever_us;
    if (old.paused_until_us == k_forever_us) return header;
    const std::int64_t wall_end = old.paused_until_us - old.offset_us + wall_minus_boot_us;
    const std::int64_t left = std::min(wall_end - moment.wall_us, old.paused_until_us - old.seen_us);
    header.paused_until_us = moment.now_us + left;
    if (left <= 0) return std::nullopt;
    return header;
}

std::vector<Survivor> survivors_of(Transaction& txn, const StoreRecord& record, const Moment& moment) {
    KeyTable table(txn);
    std::vector<Survivor> survivors;
    table.each_name([&](std::string_view name) { survivors.push_back({std::string(name), {}, {}, {}}); });
    for (auto& survivor : survivors) {
        const LocalRecords records(txn, table, survivor.name);
        survivor.registration = records.registration();
        survivor.note = records.pause_note();
        if (const auto header = records.header())
            survivor.header = pause_after_reboot(*header, record.wall_minus_boot_us, moment);
    }
    return survivors;
}

Failure write_draft(const ExaminePlan& plan, const std::vector<Survivor>& survivors) {
    StoreRecord record;
    record.boot = plan.boot;
    record.wall_minus_boot_us = plan.moment.wall_us - plan.moment.now_us;
    const auto fill = [&](Transaction& txn) {
        KeyTable table(txn);
        for (const auto& survivor : survivors) {
            LocalRecords records(txn, table, survivor.name);
            records.put_registration(survivor.registration);
            records.put_pause_note(survivor.note);
            if (survivor.header) records.put_header(*survivor.header);
            records.settle(plan.moment);
        }
    };
    struct stat old {};
    const bool known = stat(plan.path.c_str(), &old) == 0;
    const std::size_t map =
        std::max(Environment::k_first_map_bytes, known ? static_cast<std::size_t>(old.st_size) * 2 : 0);
    return make_data_file(plan.draft, plan.rights, record, map, fill);
}

Examination look(const ExaminePlan& plan) {
    // Before LMDB maps it, with whatever size the file says that it needs.
    const Fd file(open(plan.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file) return {Finding::system, errno};
    if (check_pages(file.get()) == Pages::torn) return {Finding::damaged, 0};
    Environment environment;
    if (const auto failure = environment.open(plan.path)) return examination_of(failure);
    const std::size_t count = environment.records();
    Transaction txn(environment);
    const auto record = read_store_record(txn);
    if (txn.failure()) return examination_of(txn.failure());
    if (!record || !reads_through(txn, count)) return {Finding::damaged, 0};
    if (record->boot != plan.boot) {
        const auto survivors = survivors_of(txn, *record, plan.moment);
        if (txn.failure()) return examination_of(txn.failure());
        if (const auto failure = write_draft(plan, survivors)) return examination_of(failure);
        return {Finding::earlier, 0};
    }
    put_store_record(txn, *record);
    txn.commit();
    return examination_of(txn.failure());
}

[[noreturn]] void be_the_child(const ExaminePlan& plan, int report_fd, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    g_report_fd = report_fd;
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) dup2(null, STDERR_FILENO);  // LMDB's last words
    struct sigaction action {};
    action.sa_handler = report_crash;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
        sigaction(signal, &action, nullptr);
    report(look(plan));
    _exit(1);
}

bool readable_within(int fd, Duration at_most) {
    const auto deadline = std::chrono::steady_clock::now() + at_most;
    for (;;) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        if (left.count() <= 0) return false;
        pollfd ready{fd, POLLIN, 0};
        const int count = poll(&ready, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 1'000'000)));
        if (count > 0) return true;
        if (count < 0 && errno != EINTR) return false;
    }
}

}  // namespace

Examination examine(const ExaminePlan& plan, Duration at_most) {
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0) return {Finding::system, errno};
    const Fd from_child(ends[0]);
    Fd to_parent(ends[1]);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) return {Finding::system, errno};
    if (child == 0) be_the_child(plan, to_parent.get(), parent);
    to_parent.reset();
    Examination found;
    if (!readable_within(from_child.get(), at_most)) kill(child, SIGKILL);
    Examination read_back;
    if (read(from_child.get(), &read_back, sizeof read_back) == static_cast<ssize_t>(sizeof read_back))
        found = read_back;
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (found.finding != Finding::earlier) unlink(plan.draft.c_str());
    return found;
}

}  // namespace jobthrottle::local
