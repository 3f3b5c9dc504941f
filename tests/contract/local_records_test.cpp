// SPDX-License-Identifier: MIT
// The local store decides as the store in memory does, keeps what it was told, and does not grow for ever.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <vector>

#include "contract/local_support.hpp"
#include "store/memory_store.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

// Puts the same random questions to both stores and compares what they say.
class Comparison {
public:
    Comparison(unsigned seed, const std::string& folder) : m_random(seed) {
        LocalOptions options = options_in(folder);
        options.hooks = m_machine.hooks();
        m_local = open_store(options);
        for (const char* name : {"a", "b", "key with \xff and spaces"})
            m_keys.push_back(key_named(name));
        m_keys.push_back(key_named(std::string(480, 'x')));
    }

    void step() {
        const Key& key = m_keys[static_cast<std::size_t>(pick(0, 3))];
        move_clock();
        const auto what = pick(0, 99);
        if (what < 85) {
            compare_ask(key);
        } else if (what < 90) {
            const auto place = static_cast<TicketId>(pick(1, 40));
            REQUIRE(m_memory.cancel(key, place));
            REQUIRE(m_local->cancel(key, place));
        } else if (what < 93) {
            compare_pause(key);
        } else if (what < 95) {
            REQUIRE(m_local->resume(key)->changed == m_memory.resume(key)->changed);
        } else if (what < 97) {
            compare_registration(key);
        } else {
            const bool force = pick(0, 9) == 0;
            REQUIRE(m_local->forget(key, force)->forgotten == m_memory.forget(key, force)->forgotten);
        }
        if (pick(0, 19) == 0) compare_report(key);
        if (pick(0, 49) == 0) m_local->rest();
    }

    void compare_reports() {
        for (const auto& key : m_keys)
            compare_report(key);
        const auto ours = m_local->keys("*"), theirs = m_memory.keys("*");
        REQUIRE(ours);
        REQUIRE(ours->size() == theirs->size());
        for (std::size_t i = 0; i < ours->size(); ++i)
            CHECK((*ours)[i].key == (*theirs)[i].key);
    }

private:
    std::int64_t pick(std::int64_t from, std::int64_t to) {
        return std::uniform_int_distribution<std::int64_t>(from, to)(m_random);
    }

    void move_clock() {
        const auto how = pick(0, 199);
        Duration step{how < 100 ? pick(0, 1'000) : pick(0, 400'000)};
        if (how == 198) step = Duration{pick(0, 1'000'000'000)};
        if (how == 199) step = Duration{-pick(0, 50'000'000)};  // the hook may step back, and so may a guest
        m_machine.clock_us += step.count();
        m_memory.set_clock(instant_us(m_machine.clock_us));
    }

    Rate some_rate() {
        switch (pick(0, 5)) {
            case 0:
                return rate_of(1, 10s);
            case 1:
                return rate_of(8, 1s, pick(1, 8));
            case 2:
                return rate_of(300, 60s, 20);
            case 3:
                return rate_of(100'000, 1s, 50);  // several starts share an entry of the log
            case 4:
                return rate_of(3000, 3600s, 3000);
            default:
                return rate_of(200, 20s);
        }
    }

    void compare_ask(const Key& key) {
        Question question;
        question.id = static_cast<StartId>(pick(1, 3000));
        question.fresh = pick(0, 9) != 0;
        question.place = static_cast<TicketId>(pick(1, 40));
        if (pick(0, 9) == 0) question.place |= k_named_ticket_bit;
        if (pick(0, 9) != 0) question.rate = some_rate();
        question.pause_only = pick(0, 1) == 0;
        question.override_registered = pick(0, 3) == 0;
        question.caller = pick(0, 4) == 0;
        question.taking = static_cast<Taking>(pick(0, 2));
        question.who = "job user@host:" + std::to_string(question.place);
        const auto ours = m_local->ask(key, question), theirs = m_memory.ask(key, question);
        REQUIRE(ours);
        REQUIRE(text_of(*ours) == text_of(*theirs));
    }

    void compare_pause(const Key& key) {
        PauseRequest request;
        request.length = Duration{pick(1'000'000, 20'000'000)};
        request.by_hand = pick(0, 1) == 0;
        PauseNote note;
        note.line = "Retry-After: " + std::to_string(pick(1, 100));
        note.at_s = m_machine.wall_us / 1'000'000;
        request.note = encode(note);
        const auto ours = m_local->pause(key, request), theirs = m_memory.pause(key, request);
        REQUIRE(ours);
        REQUIRE(ours->left == theirs->left);
        REQUIRE(ours->changed == theirs->changed);
    }

    void compare_registration(const Key& key) {
        std::optional<Registration> wanted;
        if (pick(0, 1) == 0) wanted = Registration{some_rate(), 7, "someone@host"};
        const auto ours = m_local->set_registration(key, wanted);
        const auto theirs = m_memory.set_registration(key, wanted);
        REQUIRE(ours);
        REQUIRE(ours->has_value() == theirs->has_value());
    }

    void compare_report(const Key& key) {
        const auto ours = m_local->inspect(key), theirs = m_memory.inspect(key);
        REQUIRE(ours);
        REQUIRE(text_of(*ours) == text_of(*theirs));
    }

    std::mt19937 m_random;
    Machine m_machine;
    MemoryStore m_memory;
    std::unique_ptr<Store> m_local;
    std::vector<Key> m_keys;
};

}  // namespace

TEST_CASE("local: decides as the store in memory", "[contract]") {
    for (const unsigned seed : {1U, 2U, 3U, 4U}) {
        const TempDir folder;
        INFO("seed " << seed);
        Comparison comparison(seed, folder.path());
        for (int i = 0; i < 4000; ++i)
            comparison.step();
        comparison.compare_reports();
    }
}

TEST_CASE("local: a long waiting list is left behind as in memory", "[contract]") {
    const TempDir folder;
    Machine machine;
    LocalOptions options = options_in(folder.path());
    options.hooks = machine.hooks();
    const auto local = open_store(options);
    MemoryStore memory;
    const Key key = key_named("k");
    const auto ask_both = [&](TicketId place) {
        memory.set_clock(instant_us(machine.clock_us));
        Question question = question_at(rate_of(1, 60s));
        question.taking = Taking::place;
        question.place = place;
        const auto ours = local->ask(key, question), theirs = memory.ask(key, question);
        REQUIRE(ours);
        REQUIRE(text_of(*ours) == text_of(*theirs));
    };
    for (TicketId place = 1; place <= 300; ++place)
        ask_both(place);
    CHECK(local->inspect(key)->waiting.size() == 299);
    machine.advance(3h);  // all are forgotten, in one opening
    for (TicketId place = 500; place <= 530; ++place)
        ask_both(place);
    CHECK(text_of(*local->inspect(key)) == text_of(*memory.inspect(key)));
    CHECK(local->inspect(key)->waiting.size() == 30);
}

TEST_CASE("local: keeps what it was told when it is opened again", "[contract]") {
    const TempDir folder;
    Machine machine;
    LocalOptions options = options_in(folder.path() + "/made/with/parents");
    options.hooks = machine.hooks();
    const Key key = key_named("k");
    {
        const auto store = open_store(options);
        CHECK(store->name() == "local:" + options.path);
        REQUIRE(store->set_registration(key, Registration{rate_of(5, 60s), 7, "me@here"}));
        REQUIRE(store->ask(key, question_at(rate_of(5, 60s)))->kind == AnswerKind::start);
        PauseRequest request;
        request.length = 90s;
        request.note = encode(PauseNote{"HTTP 429", "line", "stdout", "job", "who", "", 1'800'000'000});
        REQUIRE(store->pause(key, request)->changed);
    }
    machine.advance(30s);
    const auto report = open_store(options)->inspect(key);
    REQUIRE(report);
    CHECK(report->paused_for == 60s);
    CHECK(report->starts_in_window == 1);
    CHECK(report->note->summary == "HTTP 429");
    CHECK(report->registration->who == "me@here");
}

TEST_CASE("local: each prefix has keys of its own", "[contract]") {
    const TempDir folder;
    LocalOptions one = options_in(folder.path()), other = one, third = one;
    other.prefix = "state";  // as the file of the empty prefix is called
    third.prefix = "../" + std::string(300, '/');
    for (const auto& options : {one, other, third}) {
        start_once(options);
        CHECK(open_store(options)->inspect(key_named("k"))->started == 1);
    }
    CHECK(files_in(folder.path()).size() == 6);
}

TEST_CASE("local: a file that outgrows its map serves those who had it open", "[contract]") {
    const TempDir folder;
    const LocalOptions options = options_in(folder.path());
    const auto before = open_store(options), store = open_store(options);
    REQUIRE(before->registration(key_named("none")));
    for (int i = 0; i < 3500; ++i) {
        const std::string name = std::to_string(i) + std::string(470, '-');
        REQUIRE(
            store->set_registration(key_named(name), Registration{rate_of(1, 1s), 1, std::string(800, 'w')}));
    }
    REQUIRE(std::filesystem::file_size(folder.file("state.mdb")) > std::size_t{5} << 20);
    const std::string last = "3499" + std::string(470, '-');
    CHECK((*before->registration(key_named(last)))->who == std::string(800, 'w'));
    CHECK(before->keys("*")->size() == 3500);
}

TEST_CASE("local: keys that are not used any more leave no room taken", "[contract]") {
    const TempDir folder;
    Machine machine;
    LocalOptions options = options_in(folder.path());
    options.hooks = machine.hooks();
    const auto store = open_store(options);
    std::uintmax_t early = 0;
    for (int round = 0; round < 12; ++round) {
        for (int i = 0; i < 1000; ++i) {
            const auto key = key_named("round " + std::to_string(round) + " key " + std::to_string(i));
            REQUIRE(store->ask(key, question_at(rate_of(1, 1s)))->kind == AnswerKind::start);
        }
        machine.advance(10min);
        if (round == 2) early = std::filesystem::file_size(folder.file("state.mdb"));
    }
    CHECK(std::filesystem::file_size(folder.file("state.mdb")) < early * 3 / 2);
}

TEST_CASE("local: no descriptor reaches a program, and none is left open by rest()", "[contract]") {
    const TempDir folder;
    const auto store = open_store(options_in(folder.path()));
    const auto open_files = [&] {
        int count = 0;
        for (int fd = 0; fd < 256; ++fd) {
            std::error_code none;
            const auto target = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), none);
            if (target.string().rfind(folder.path(), 0) != 0) continue;
            CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
            ++count;
        }
        return count;
    };
    REQUIRE(store->registration(key_named("k")));
    CHECK(open_files() >= 2);
    store->rest();
    CHECK(open_files() == 0);
    CHECK(store->registration(key_named("k")).ok());
}
