// SPDX-License-Identifier: MIT
// Signals and standard input of this very process.
#include "process/sleeper.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "process/standard_descriptors.hpp"
#include "process/standard_input.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using namespace jobthrottle;
using namespace std::chrono_literals;

namespace {

void send(int signal) {
    REQUIRE(kill(getpid(), signal) == 0);
}

struct Awake {
    SignalInbox inbox = SignalInbox::open().value();
    SignalSleeper sleeper = SignalSleeper::open(inbox).value();
    BootTime far() const { return sleeper.now() + std::chrono::hours{1}; }
};

bool is_blocked(int signal) {
    sigset_t mask;
    sigprocmask(SIG_SETMASK, nullptr, &mask);
    return sigismember(&mask, signal) == 1;
}

void set_handler(int signal, void (*handler)(int)) {
    REQUIRE(std::signal(signal, handler) != SIG_ERR);
}

// Puts `fd` on standard input while it lives.
class AsInput {
public:
    explicit AsInput(int fd) : m_saved(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)) {
        REQUIRE(dup2(fd, STDIN_FILENO) == STDIN_FILENO);
    }
    AsInput(const AsInput&) = delete;
    AsInput& operator=(const AsInput&) = delete;
    ~AsInput() {
        if (m_saved)
            dup2(m_saved.get(), STDIN_FILENO);
        else
            close(STDIN_FILENO);
    }

private:
    Fd m_saved;
};

struct Ends {
    Fd read_end, write_end;
};

Ends make_pipe() {
    std::array<int, 2> ends{};
    REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
    return {Fd{ends[0]}, Fd{ends[1]}};
}

void put(int fd, std::string_view text) {
    REQUIRE(write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

void take(int fd, std::size_t size) {
    std::string buffer(size, '\0');
    REQUIRE(read(fd, buffer.data(), size) == static_cast<ssize_t>(size));
}

}  // namespace

TEST_CASE("sleeper: wakes when it is due, never before", "[process]") {
    Awake awake;
    for (const Duration wait : {Duration{1}, Duration{999}, Duration{5000}, Duration{20000}}) {
        const auto due = awake.sleeper.now() + wait;
        CHECK(awake.sleeper.sleep_until(due).reason == WakeReason::due);
        CHECK(awake.sleeper.now() >= due);
    }
    CHECK(awake.sleeper.sleep_until(BootTime{}).reason == WakeReason::due);
    CHECK(awake.sleeper.sleep_until(awake.sleeper.now()).reason == WakeReason::due);
}

TEST_CASE("sleeper: stop signals end the sleep and are remembered", "[process]") {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        Awake awake;
        CHECK_FALSE(awake.sleeper.stop_signal());
        send(signal);
        const auto wake = awake.sleeper.sleep_until(awake.far());
        CHECK(wake.reason == WakeReason::stop_signal);
        CHECK(wake.signal == signal);
        CHECK(awake.sleeper.stop_signal() == signal);
        send(SIGTERM);
        CHECK(awake.sleeper.sleep_until(BootTime{}).signal == signal);
    }
}

TEST_CASE("sleeper: a stop signal is seen without a sleep", "[process]") {
    Awake awake;
    send(SIGTERM);
    CHECK(awake.sleeper.stop_signal() == SIGTERM);
    CHECK(awake.sleeper.sleep_until(BootTime{}).reason == WakeReason::stop_signal);
}

TEST_CASE("sleeper: a signal that comes in mid-sleep ends it", "[process]") {
    Awake awake;
    const pid_t child = fork();
    if (child == 0) {
        usleep(50000);
        kill(getppid(), SIGHUP);
        _exit(0);
    }
    CHECK(awake.sleeper.sleep_until(awake.far()).signal == SIGHUP);
    CHECK(waitpid(child, nullptr, 0) == child);
}

TEST_CASE("sleeper: USR1 asks for the status once, others go by", "[process]") {
    Awake awake;
    send(SIGUSR2);
    send(SIGUSR1);
    CHECK(awake.sleeper.sleep_until(awake.far()).reason == WakeReason::status_wanted);
    send(SIGUSR2);
    CHECK(awake.sleeper.sleep_until(awake.sleeper.now() + 2ms).reason == WakeReason::due);
    send(SIGUSR1);
    CHECK_FALSE(awake.sleeper.stop_signal());
    CHECK(awake.sleeper.sleep_until(awake.far()).reason == WakeReason::status_wanted);
}

TEST_CASE("sleeper: a descriptor that becomes readable or breaks wakes it", "[process]") {
    Awake awake;
    auto quiet = make_pipe();
    auto [read_end, write_end] = make_pipe();
    const std::vector<int> wakes{quiet.read_end.get(), read_end.get()};
    const auto reason = [&](BootTime due) { return awake.sleeper.sleep_until(due, wakes).reason; };
    CHECK(reason(awake.sleeper.now() + 3ms) == WakeReason::due);
    SECTION("it is readable already, and stays so until it is read") {
        put(write_end.get(), "x");
        CHECK(reason(awake.far()) == WakeReason::woken);
        CHECK(reason(awake.far()) == WakeReason::woken);
        take(read_end.get(), 1);
        CHECK(reason(awake.sleeper.now() + 3ms) == WakeReason::due);
    }
    SECTION("in mid-sleep") {
        const pid_t child = fork();
        if (child == 0) {
            usleep(50000);
            _exit(write(write_end.get(), "x", 1) == 1 ? 0 : 1);
        }
        CHECK(reason(awake.far()) == WakeReason::woken);
        CHECK(waitpid(child, nullptr, 0) == child);
    }
    SECTION("nobody writes to it any more") {
        write_end.reset();
        CHECK(reason(awake.far()) == WakeReason::woken);
    }
    SECTION("it is closed") {
        read_end.reset();
        CHECK(reason(awake.far()) == WakeReason::woken);
    }
    SECTION("a regular file at its end is readable") {
        const test::TempDir dir;
        test::write_file(dir.file("empty"), "");
        const Fd file{open(dir.file("empty").c_str(), O_RDONLY | O_CLOEXEC)};
        CHECK(awake.sleeper.sleep_until(awake.far(), {file.get()}).reason == WakeReason::woken);
    }
    SECTION("a time that is over ends it first") {
        put(write_end.get(), "x");
        CHECK(reason(BootTime{}) == WakeReason::due);
    }
    SECTION("signals win") {
        put(write_end.get(), "x");
        send(SIGUSR1);
        CHECK(reason(awake.far()) == WakeReason::status_wanted);
        CHECK(reason(awake.far()) == WakeReason::woken);
        send(SIGTERM);
        CHECK(reason(awake.far()) == WakeReason::stop_signal);
    }
}

TEST_CASE("inbox: what was ignored at the start is not reported", "[process]") {
    set_handler(SIGHUP, SIG_IGN);
    {
        Awake awake;
        send(SIGHUP);
        CHECK_FALSE(awake.sleeper.stop_signal());
        CHECK(SignalInbox::ignored_at_start(SIGHUP));
        CHECK_FALSE(SignalInbox::ignored_at_start(SIGINT));
    }
    set_handler(SIGHUP, SIG_DFL);
}

TEST_CASE("inbox: is the only one, and leaves all as it was", "[process]") {
    set_handler(SIGPIPE, SIG_DFL);
    set_handler(SIGCHLD, SIG_IGN);
    {
        auto inbox = SignalInbox::open();
        REQUIRE(inbox.ok());
        CHECK_FALSE(SignalInbox::open().ok());
        CHECK(is_blocked(SIGTERM));
        CHECK_FALSE(is_blocked(SIGTSTP));
        CHECK(SignalInbox::ignored_at_start(SIGCHLD));
        {
            const CommandSignals held_back;
            CHECK(is_blocked(SIGTSTP));
            send(SIGALRM);  // comes too late for any command, and must not hit us
        }
        CHECK_FALSE(is_blocked(SIGALRM));
        send(SIGTERM);  // likewise
    }
    CHECK_FALSE(is_blocked(SIGTERM));
    CHECK(std::signal(SIGPIPE, SIG_DFL) == SIG_DFL);
    CHECK(std::signal(SIGCHLD, SIG_DFL) == SIG_IGN);
}

TEST_CASE("standard input: a file goes back to where it stood", "[process]") {
    const test::TempDir dir;
    test::write_file(dir.file("in"), "0123456789");
    const Fd file{open(dir.file("in").c_str(), O_RDONLY | O_CLOEXEC)};
    const AsInput input{file.get()};
    take(STDIN_FILENO, 3);
    const auto before = StandardInput::look();
    take(STDIN_FILENO, 5);
    const auto again = before.put_back();
    REQUIRE(again.ok());
    CHECK(*again);
    CHECK(lseek(STDIN_FILENO, 0, SEEK_CUR) == 3);
}

TEST_CASE("standard input: a pipe that was read from cannot be given again", "[process]") {
    auto [read_end, write_end] = make_pipe();
    const AsInput input{read_end.get()};
    SECTION("untouched") {
        put(write_end.get(), "abc");
        const auto before = StandardInput::look();
        CHECK(*before.put_back());
        put(write_end.get(), "more");
        CHECK(*before.put_back());
        write_end.reset();
        CHECK(*before.put_back());
    }
    SECTION("idle") {
        const auto before = StandardInput::look();
        CHECK(*before.put_back());
    }
    SECTION("at its end from the beginning") {
        write_end.reset();
        const auto before = StandardInput::look();
        CHECK(*before.put_back());
    }
    SECTION("read from") {
        put(write_end.get(), "abc");
        const auto before = StandardInput::look();
        take(STDIN_FILENO, 1);
        CHECK_FALSE(*before.put_back());
    }
    SECTION("read to the end") {
        const auto before = StandardInput::look();
        put(write_end.get(), "abc");
        write_end.reset();
        take(STDIN_FILENO, 3);
        CHECK_FALSE(*before.put_back());
    }
}

TEST_CASE("standard input: a socket is as a pipe, a device and none can be given again", "[process]") {
    std::array<int, 2> ends{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    const Fd ours{ends[0]};
    const Fd theirs{ends[1]};
    {
        const AsInput input{ours.get()};
        put(theirs.get(), "abc");
        const auto before = StandardInput::look();
        CHECK(*before.put_back());
        take(STDIN_FILENO, 2);
        CHECK_FALSE(*before.put_back());
    }
    {
        const Fd device{open("/dev/zero", O_RDONLY | O_CLOEXEC)};
        const AsInput input{device.get()};
        const auto before = StandardInput::look();
        take(STDIN_FILENO, 2);
        CHECK(*before.put_back());
    }
    {
        const Fd any{open("/dev/null", O_RDONLY | O_CLOEXEC)};
        const AsInput input{any.get()};
        close(STDIN_FILENO);
        CHECK(is_closed(STDIN_FILENO));
        CHECK(*StandardInput::look().put_back());
        reserve_standard_descriptors();
        CHECK(fcntl(STDIN_FILENO, F_GETFD) == FD_CLOEXEC);
        CHECK(is_closed(STDIN_FILENO));
        CHECK(*StandardInput::look().put_back());
    }
}
