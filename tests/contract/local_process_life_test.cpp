// SPDX-License-Identifier: MIT
// Who lives: what the system says of the processes that are kept with a lease, by real ones.
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <thread>

#include "contract/local_support.hpp"
#include "store/local/processes.hpp"
#include "support/catch.hpp"
#include "support/spawn.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using local::decode_processes;
using local::life_of;
using local::parse_process_stat;
using local::Process;
using local::processes_text;

namespace {

const std::string k_rest_of_stat =
    " 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 ";  // up to the number of threads

std::string stat_line(const std::string& name, char state, int threads, const std::string& began) {
    return "42 (" + name + ") " + state + k_rest_of_stat + std::to_string(threads) + " 0 " + began +
           " 99 0 0\n";
}

// A child that does nothing but live.
pid_t start_idler() {
    return start_child([] {
        for (;;)
            ::pause();
        return 0;
    });
}

bool comes_true(const std::function<bool()>& wanted) {
    for (int tries = 0; tries < 30'000; ++tries) {
        if (wanted()) return true;
        const timespec millisecond{0, 1'000'000};
        nanosleep(&millisecond, nullptr);
    }
    return false;
}

bool is_readable(int fd) {
    pollfd ready{fd, POLLIN, 0};
    return poll(&ready, 1, 0) == 1;
}

}  // namespace

TEST_CASE("processes: what a line of /proc says", "[contract]") {
    struct Row {
        std::string line;
        bool valid;
        bool lives;
    };
    const std::string began = "123456789";
    for (const auto& row : {
             Row{stat_line("bash", 'S', 1, began), true, true},
             Row{stat_line("a) Z 1 (b", 'R', 1, began), true, true},
             Row{stat_line("(sd-pam)", 'T', 1, began), true, true},
             Row{stat_line("two\nlines ) ", 'D', 3, began), true, true},
             Row{stat_line("gone", 'Z', 1, began), true, false},
             Row{stat_line("gone", 'X', 1, began), true, false},
             Row{stat_line("first thread ended", 'Z', 2, began), true, true},
             Row{stat_line("bash", 'S', 1, "12x"), false, false},
             Row{stat_line("bash", 'S', 1, ""), false, false},
             Row{"42 (bash) S 1 7 7", false, false},
             Row{"42 bash S 1 7 7", false, false},
             Row{"", false, false},
         }) {
        INFO(row.line);
        const auto stat = parse_process_stat(row.line);
        REQUIRE(stat.has_value() == row.valid);
        if (!stat) continue;
        CHECK(stat->lives() == row.lives);
        CHECK(stat->began == 123'456'789);
    }
}

TEST_CASE("processes: the text that is kept with a lease", "[contract]") {
    CHECK(encode(local::ProcessGroup{4'026'531'836, {{7, 8}, {9, 10}}}) == "4026531836 7:8 9:10");
    CHECK(encode(local::ProcessGroup{5, {}}).empty());
    const auto two = decode_processes("4026531836 7:8 9:10");
    REQUIRE(two);
    CHECK(two->space == 4'026'531'836);
    REQUIRE(two->members.size() == 2);
    CHECK(two->members[1].pid == 9);
    CHECK(two->members[1].began == 10);
    for (const char* text : {"", "5", "5 ", "5 7", "5 7:", "5 :8", "5 0:8", "5 -7:8", "5 7:8 9:10 11:12",
                             "x 7:8", "5  7:8", "5 99999999999:8", "5 7:8:9"}) {
        INFO(text);
        CHECK_FALSE(decode_processes(text).has_value());
        CHECK(life_of(text) == HolderLife::unknown);
    }
    const std::string longest = encode(local::ProcessGroup{
        ~std::uint64_t{0} >> 1, {{2'147'483'647, INT64_MAX}, {2'147'483'647, INT64_MAX}}});
    CHECK(longest.size() <= k_processes_bytes);
    CHECK(decode_processes(longest).has_value());
}

TEST_CASE("processes: alive, stopped, dead and not yet reaped", "[contract]") {
    const std::string own = processes_text(getpid(), 0);
    CHECK(life_of(own) == HolderLife::alive);
    CHECK(life_of(own + "0") == HolderLife::dead);  // the same pid at another time
    CHECK(processes_text(0, -1).empty());

    const pid_t child = start_idler();
    const std::string text = processes_text(child, 0);
    const std::string first = processes_text(child, getpid()), second = processes_text(getpid(), child);
    CHECK(life_of(text) == HolderLife::alive);
    kill(child, SIGSTOP);
    REQUIRE(waitpid(child, nullptr, WUNTRACED) == child);
    CHECK(life_of(text) == HolderLife::alive);
    kill(child, SIGKILL);
    siginfo_t info{};
    REQUIRE(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
    CHECK(life_of(text) == HolderLife::dead);
    CHECK(processes_text(child, 0).empty());
    CHECK(life_of(first) == HolderLife::alive);
    CHECK(end_of(child) == 128 + SIGKILL);
    CHECK(life_of(text) == HolderLife::dead);
    CHECK(life_of(first) == HolderLife::alive);  // one of two
    CHECK(life_of(second) == HolderLife::alive);
}

TEST_CASE("processes: one whose first thread has ended lives on in the others", "[contract]") {
    Pipe pipe = make_pipe();
    const pid_t child = start_child([&] {
        std::thread([fd = pipe.write_end.get()] {
            if (write(fd, "r", 1) != 1) _exit(1);
            for (;;)
                ::pause();
        }).detach();
        syscall(SYS_exit, 0);  // this thread alone
        return 1;
    });
    pipe.write_end.reset();
    char ready = 0;
    REQUIRE(read(pipe.read_end.get(), &ready, 1) == 1);
    const std::string text = processes_text(child, 0);
    const std::string path = "/proc/" + std::to_string(child) + "/stat";
    const bool looks_dead = comes_true([&] {
        char state = 0;
        FILE* file = std::fopen(path.c_str(), "re");
        if (file == nullptr) return false;
        const bool found = std::fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
        std::fclose(file);
        return found && state == 'Z';
    });
    REQUIRE(looks_dead);
    CHECK(life_of(text) == HolderLife::alive);
    CHECK(processes_text(child, 0) == text);
    kill(child, SIGKILL);
    CHECK(end_of(child) == 128 + SIGKILL);
    CHECK(life_of(text) == HolderLife::dead);
}

TEST_CASE("processes: the end of one is told by a descriptor", "[contract]") {
    const pid_t child = start_idler();
    const auto group = decode_processes(processes_text(child, 0));
    REQUIRE(group);
    const Process process = group->members.front();
    const Fd fd = local::watch(process);
    REQUIRE(fd);
    CHECK_FALSE(local::watch({process.pid, process.began + 1}));
    CHECK_FALSE(is_readable(fd.get()));
    kill(child, SIGKILL);
    CHECK(comes_true([&] { return is_readable(fd.get()); }));
    CHECK_FALSE(local::watch(process));  // ended, though not reaped
    CHECK(end_of(child) == 128 + SIGKILL);
    CHECK_FALSE(local::watch(process));
}

TEST_CASE("processes: of another pid namespace nothing is known", "[contract]") {
    const std::string own = processes_text(getpid(), 0);
    const std::string other = "1" + own;  // another number of a namespace
    CHECK(life_of(other) == HolderLife::unknown);
    CHECK_FALSE(local::processes_in_sight(other).has_value());

    const int end = run_child([&] {
        if (unshare(CLONE_NEWPID) != 0) return 77;
        // Its first process, with the /proc of the namespace outside.
        const pid_t first = fork();
        if (first == 0) {
            if (life_of(own) != HolderLife::unknown) _exit(1);
            _exit(processes_text(getpid(), 0).empty() ? 0 : 2);
        }
        return end_of(first);
    });
    if (end == 77) WARN("may not make a pid namespace: only a made-up one was looked at");
    CHECK((end == 0 || end == 77));
}

TEST_CASE("processes: a /proc that hides others does not make them dead", "[contract]") {
    const std::string own = processes_text(getpid(), 0);
    const pid_t ended = start_idler();
    const std::string dead = processes_text(ended, 0);
    kill(ended, SIGKILL);
    REQUIRE(end_of(ended) == 128 + SIGKILL);
    const int end = run_child([&] {
        if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0) return 77;
        if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
        if (mount("proc", "/proc", "proc", 0, "hidepid=2") != 0) return 77;
        become(k_some_user, k_some_group);
        if (life_of(own) != HolderLife::unknown) return 1;
        return life_of(dead) == HolderLife::dead ? 0 : 2;
    });
    if (end == 77) WARN("may not mount a /proc of its own: nothing was checked");
    CHECK((end == 0 || end == 77));
}
