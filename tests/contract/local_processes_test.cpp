// SPDX-License-Identifier: MIT
// Many processes on one local store, and processes that die or stop in the middle of it.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <random>

#include "contract/local_support.hpp"
#include "support/catch.hpp"
#include "support/spawn.hpp"
#include "support/temp_dir.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

Rate plenty() {
    return rate_of(1'000'000, std::chrono::hours{24 * 366}, 1'000'000);
}

// Asks for starts and places until it is killed; writes a byte for every start that was answered.
int ask_for_ever(const LocalOptions& options, int tell) {
    const auto store = open_store(options);
    Question place = question_at(rate_of(1, 1h));
    place.taking = Taking::place;
    for (;;) {
        const auto start = store->ask(key_named("starts"), question_at(plenty()));
        if (!start || start->kind != AnswerKind::start) return 1;
        if (write(tell, "s", 1) != 1) return 2;
        ++place.id;
        place.place = place.id % 50 + 1;
        if (!store->ask(key_named("line"), place)) return 3;
        if (place.id % 7 == 0 && !store->cancel(key_named("line"), place.place)) return 4;
        if (place.id % 16 == 0) store->rest();
    }
}

std::int64_t read_bytes(int fd, std::int64_t at_least) {
    std::array<char, 4096> buffer{};
    std::int64_t count = 0;
    while (count < at_least) {
        const auto size = read(fd, buffer.data(), buffer.size());
        if (size <= 0) return count;
        count += size;
    }
    return count;
}

}  // namespace

TEST_CASE("local: two hundred processes at once all get their answer", "[contract]") {
    const TempDir folder;
    Pipe gate = make_pipe();
    std::vector<pid_t> children;
    for (int i = 0; i < 200; ++i) {
        children.push_back(start_child([&] {
            gate.write_end.reset();
            read_bytes(gate.read_end.get(), 1);  // until all are there
            start_once(options_in(folder.path() + "/new"));
            return 0;
        }));
    }
    gate.write_end.reset();
    for (const pid_t child : children)
        CHECK(end_of(child) == 0);
    CHECK(open_store(options_in(folder.path() + "/new"))->inspect(key_named("k"))->started == 200);
}

TEST_CASE("local: writers killed at any point leave every start they were given", "[contract]") {
    const TempDir folder;
    LocalOptions options = options_in(folder.path());
    std::string said;
    options.notice = [&](const std::string& text) { said += text; };
    std::mt19937 random(7);
    std::int64_t answered = 0, killed = 0;
    for (int round = 0; round < 30; ++round) {
        Pipe pipe = make_pipe();
        std::vector<pid_t> children;
        for (int i = 0; i < 3; ++i)
            children.push_back(start_child([&] { return ask_for_ever(options, pipe.write_end.get()); }));
        pipe.write_end.reset();
        answered += read_bytes(pipe.read_end.get(), std::uniform_int_distribution<>(1, 300)(random));
        for (const pid_t child : children) {
            kill(child, SIGKILL);
            CHECK(end_of(child) == 128 + SIGKILL);
            ++killed;
        }
        answered += read_bytes(pipe.read_end.get(), 1'000'000'000);
        const auto store = open_store(options);
        const auto report = store->inspect(key_named("starts"));
        REQUIRE(report);
        CHECK(report->started >= answered);
        CHECK(report->started <= answered + killed);
        const auto line = store->inspect(key_named("line"));
        REQUIRE(line);
        CHECK(line->waiting.size() <= 50);
        for (std::size_t i = 0; i + 1 < line->waiting.size(); ++i)
            CHECK(line->waiting[i].number < line->waiting[i + 1].number);
    }
    CHECK(said.empty());
    CHECK(count_torn(folder.path()) == 0);
}

TEST_CASE("local: a process stopped with the lock makes the store unavailable, not slow for ever",
          "[contract]") {
    const TempDir folder;
    start_once(options_in(folder.path()));
    LocalOptions stops = options_in(folder.path());
    stops.hooks.clock_us = [] {
        raise(SIGSTOP);
        return std::int64_t{5'000'000};
    };
    const pid_t child = start_child([&] {
        start_once(stops);
        return 0;
    });
    int status = 0;
    REQUIRE(waitpid(child, &status, WUNTRACED) == child);
    REQUIRE(WIFSTOPPED(status));

    LocalOptions options = options_in(folder.path());
    options.command_timeout = 150ms;
    const auto store = open_store(options);
    const auto began = BootClock::now();
    const auto answer = store->ask(key_named("k"), question_at(plenty()));
    const auto took = BootClock::now() - began;
    REQUIRE_FALSE(answer);
    CHECK(answer.error().kind == ErrorKind::unavailable);
    CHECK_THAT(answer.error().message, Catch::Matchers::ContainsSubstring("locked for longer than 150 ms"));
    CHECK(took >= 150ms);
    CHECK(took < 10s);

    LocalOptions interrupts = options_in(folder.path());
    interrupts.interrupted = [] { return true; };
    const auto interrupted = open_store(interrupts)->ask(key_named("k"), question_at(plenty()));
    REQUIRE_FALSE(interrupted);
    CHECK(interrupted.error().kind == ErrorKind::interrupted);
    const auto hurried = open_store(interrupts);
    hurried->hurry(20ms);
    CHECK(hurried->cancel(key_named("k"), 1).error().kind == ErrorKind::unavailable);

    kill(child, SIGCONT);
    CHECK(end_of(child) == 0);
    CHECK(store->ask(key_named("k"), question_at(plenty()))->kind == AnswerKind::start);
}

TEST_CASE("local: stop signals wait until the lock is given back", "[contract]") {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        const TempDir folder;
        LocalOptions options = options_in(folder.path());
        options.hooks.clock_us = [signal] {
            kill(getpid(), signal);
            return std::int64_t{5'000'000};
        };
        const int end = run_child([&] {
            ::signal(signal, SIG_DFL);
            start_once(options);
            return 0;
        });
        CHECK(end == 128 + signal);
        CHECK(open_store(options_in(folder.path()))->inspect(key_named("k"))->started == 1);
    }
    // TSTP, which stops instead: the mask says so.
    const TempDir folder;
    LocalOptions options = options_in(folder.path());
    bool held_back = false;
    options.hooks.clock_us = [&] {
        sigset_t mask;
        sigprocmask(SIG_BLOCK, nullptr, &mask);
        held_back = sigismember(&mask, SIGTSTP) == 1;
        return std::int64_t{5'000'000};
    };
    start_once(options);
    CHECK(held_back);
    sigset_t mask;
    sigprocmask(SIG_BLOCK, nullptr, &mask);
    CHECK(sigismember(&mask, SIGTSTP) == 0);
}

TEST_CASE("local: a child that inherits an open store uses it safely", "[contract]") {
    const TempDir folder;
    const auto store = open_store(options_in(folder.path()));
    REQUIRE(store->ask(key_named("k"), question_at(plenty())));
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
        children.push_back(start_child([&] {
            for (int n = 0; n < 100; ++n) {
                const auto answer = store->ask(key_named("k"), question_at(plenty()));
                if (!answer || answer->kind != AnswerKind::start) return 1;
            }
            return 0;
        }));
    }
    for (int n = 0; n < 100; ++n)
        REQUIRE(store->ask(key_named("k"), question_at(plenty())));
    for (const pid_t child : children)
        CHECK(end_of(child) == 0);
    CHECK(store->inspect(key_named("k"))->started == 501);
}

TEST_CASE("local: two users of one group share a store, whatever their umask", "[contract]") {
    if (geteuid() != 0) {
        WARN("not root: cannot become two users, so nothing is checked here");
        return;
    }
    const TempDir parent;
    const std::string folder = make_shared_folder(parent);
    for (const unsigned user : {k_some_user, k_other_user, 0U, k_some_user}) {
        const int end = run_child([&] {
            umask(077);
            if (user != 0) become(user, k_some_group);
            start_once(options_in(folder));
            return 0;
        });
        CHECK(end == 0);
    }
    for (const auto& name : files_in(folder)) {
        INFO(name);
        struct stat file {};
        REQUIRE(stat((folder + "/" + name).c_str(), &file) == 0);
        CHECK((file.st_mode & 07777) == 0660);
        CHECK(file.st_gid == k_some_group);
    }
    CHECK(open_store(options_in(folder))->inspect(key_named("k"))->started == 4);
}
