// SPDX-License-Identifier: MIT
// Leases on the local store last as long as their holders live, by real processes.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contract/local_support.hpp"
#include "support/catch.hpp"
#include "support/spawn.hpp"
#include "support/temp_dir.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

struct Desk {
    TempDir folder;
    Machine machine;
    LocalOptions options = options_in(folder.path());
    Key key = key_named("k");

    Desk() { options.hooks = machine.hooks(); }

    // Takes the key's one place for whoever `processes` says.
    StartId take(Store& store, const std::string& processes, Duration lock_for = 60s) const {
        Question question = question_at(terms_of({}, 1));
        question.lock_for = lock_for;
        question.processes = processes;
        question.who = "job";
        const auto answer = store.ask(key, question);
        if (!answer || !answer->leased) throw std::runtime_error("no lease was given");
        return question.id;
    }
    bool is_free() const { return open_store(options)->ask(key, question_at(terms_of({}, 1)))->leased; }
};

// A child that holds the key's place once this returns.
pid_t start_holder(const Desk& desk, Duration lock_for) {
    Pipe pipe = make_pipe();
    const pid_t child = start_child([&] {
        const auto store = open_store(desk.options);
        desk.take(*store, store->processes(getpid(), 0), lock_for);
        if (write(pipe.write_end.get(), "h", 1) != 1) return 1;
        for (;;)
            ::pause();
        return 0;
    });
    pipe.write_end.reset();
    char ready = 0;
    REQUIRE(read(pipe.read_end.get(), &ready, 1) == 1);
    return child;
}

}  // namespace

TEST_CASE("local: a holder that was killed holds nothing", "[contract]") {
    const Desk desk;
    const pid_t child = start_holder(desk, 1h);
    CHECK_FALSE(desk.is_free());
    kill(child, SIGKILL);
    siginfo_t info{};
    REQUIRE(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
    SECTION("and was reaped") {
        REQUIRE(end_of(child) == 128 + SIGKILL);
        CHECK(desk.is_free());
    }
    SECTION("and is a zombie") {
        CHECK(desk.is_free());
        REQUIRE(end_of(child) == 128 + SIGKILL);
    }
}

TEST_CASE("local: a holder that is stopped keeps its place past its lease", "[contract]") {
    Desk desk;
    const pid_t child = start_holder(desk, 60s);
    kill(child, SIGSTOP);
    REQUIRE(waitpid(child, nullptr, WUNTRACED) == child);
    desk.machine.advance(10min);
    CHECK_FALSE(desk.is_free());
    const auto holding = open_store(desk.options)->inspect(desk.key)->holding;
    REQUIRE(holding.size() == 1);
    CHECK(holding[0].held);
    CHECK(holding[0].age == 10min);
    kill(child, SIGKILL);
    REQUIRE(end_of(child) == 128 + SIGKILL);
    CHECK(desk.is_free());
}

TEST_CASE("local: a holder lives as long as one of its two processes", "[contract]") {
    const Desk desk;
    const auto store = open_store(desk.options);
    std::vector<pid_t> children;
    for (int i = 0; i < 2; ++i) {
        children.push_back(start_child([] {
            for (;;)
                ::pause();
            return 0;
        }));
    }
    desk.take(*store, store->processes(children[0], children[1]), 1h);
    for (const pid_t child : children) {
        CHECK_FALSE(desk.is_free());
        kill(child, SIGKILL);
        REQUIRE(end_of(child) == 128 + SIGKILL);
    }
    CHECK(desk.is_free());
}

TEST_CASE("local: a holder that cannot be seen lasts until its lease runs out", "[contract]") {
    Desk desk;
    const auto store = open_store(desk.options);
    std::string processes;
    SECTION("of another pid namespace") {
        processes = "7 1:2";
    }
    SECTION("without processes") {}
    const StartId id = desk.take(*store, processes);
    desk.machine.advance(59s);
    CHECK_FALSE(desk.is_free());
    REQUIRE(store->renew(desk.key, {id, 60s, {}})->state == LeaseState::held);
    desk.machine.advance(59s);
    CHECK_FALSE(desk.is_free());
    desk.machine.advance(2s);
    CHECK(desk.is_free());
    const auto lost = store->release(desk.key, {id, false});
    CHECK(lost->state == LeaseState::lost);
    CHECK(lost->lost_for == 1s);
}

TEST_CASE("local: a renewal may name other processes", "[contract]") {
    const Desk desk;
    const auto store = open_store(desk.options);
    const std::string own = store->processes(getpid(), 0);
    const StartId id = desk.take(*store, own, 1h);
    REQUIRE(store->renew(desk.key, {id, {}, {}})->state == LeaseState::held);
    CHECK_FALSE(desk.is_free());
    REQUIRE(store->renew(desk.key, {id, {}, own + "0"})->state == LeaseState::held);  // a dead one
    CHECK(desk.is_free());
}

TEST_CASE("local: only the leases of the dead are released, or all", "[contract]") {
    const Desk desk;
    const auto store = open_store(desk.options);
    const std::string own = store->processes(getpid(), 0);
    for (const auto& processes : {own, own + "0", own + "1", std::string()}) {
        Question question = question_at(terms_of({}, 4));
        question.processes = processes;
        question.who = "job " + processes;
        REQUIRE(store->ask(desk.key, question)->leased);
    }
    const auto dead = store->release_leases(desk.key, true);
    REQUIRE(dead);
    REQUIRE(dead->size() == 2);
    for (const auto& holder : *dead)
        CHECK_THAT(holder.who, Catch::Matchers::ContainsSubstring(own));
    const auto refused = store->forget(desk.key, false);
    REQUIRE(refused);
    CHECK_FALSE(refused->forgotten);
    CHECK(refused->holding.size() == 2);
    CHECK(store->release_leases(desk.key, false)->size() == 2);
    CHECK(store->release_leases(desk.key, false)->empty());
    CHECK(store->inspect(desk.key)->places == 0);
    CHECK(store->forget(desk.key, false)->forgotten);
}

TEST_CASE("local: a key whose holder lives is not dropped, however long nobody asks", "[contract]") {
    Desk desk;
    const auto store = open_store(desk.options);
    const std::string own = store->processes(getpid(), 0);
    const bool lives = GENERATE(true, false);
    INFO("lives " << lives);
    const StartId id = desk.take(*store, lives ? own : own + "0");
    for (int day = 0; day < 3; ++day) {
        desk.machine.advance(24h);
        for (int i = 0; i < 5; ++i)  // others write, so that what is over is dropped
            start_once(desk.options, "other " + std::to_string(i));
    }
    CHECK(store->keys("k")->size() == (lives ? 1U : 0U));
    CHECK(desk.is_free() == !lives);
    CHECK(store->release(desk.key, {id, false})->state == (lives ? LeaseState::held : LeaseState::unknown));
}

TEST_CASE("local: a reboot ends all leases", "[contract]") {
    Desk desk;
    {
        const auto store = open_store(desk.options);
        desk.take(*store, store->processes(getpid(), 0), 24h);
    }
    CHECK_FALSE(desk.is_free());
    desk.machine.boot = "second";
    CHECK(open_store(desk.options)->inspect(desk.key)->holding.empty());
    CHECK(desk.is_free());
}
