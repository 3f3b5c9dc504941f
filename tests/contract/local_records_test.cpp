// SPDX-License-Identifier: MIT
// The local store keeps what it was told, and does not grow for ever.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "contract/local_support.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

TEST_CASE("local: keeps what it was told when it is opened again", "[contract]") {
    const TempDir folder;
    Machine machine;
    LocalOptions options = options_in(folder.path() + "/made/with/parents");
    options.hooks = machine.hooks();
    const Key key = key_named("k");
    {
        const auto store = open_store(options);
        CHECK(store->name() == "local:" + options.path);
        REQUIRE(store->set_registration(key, Registration{terms_of(rate_of(5, 60s)), 7, "me@here"}));
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
    REQUIRE(report->limits.size() == 1);
    CHECK(report->limits[0].starts == 1);
    CHECK(report->note->summary == "HTTP 429");
    CHECK(report->registration->who == "me@here");
}

TEST_CASE("local: several keys in one question are written together, or none", "[contract]") {
    const TempDir folder;
    const auto store = open_store(options_in(folder.path()));
    const Key full = key_named("full"), idle = key_named("idle"), known = key_named("known");
    REQUIRE(store->set_registration(known, Registration{terms_of(rate_of(5, 60s)), 7, "me"}));
    REQUIRE(store->ask(full, question_at(terms_of({}, 1)))->kind == AnswerKind::start);

    Question question = question_at(terms_of({}, 1));
    const std::vector<Asked> asked = {{idle, question}, {full, question}, {known, question}};
    const auto refused = store->ask(asked);
    REQUIRE(refused);
    for (const auto& answer : *refused)
        CHECK(answer.kind == AnswerKind::wait);
    CHECK(store->inspect(idle)->holding.empty());
    CHECK(store->inspect(known)->started == 0);
    CHECK(store->inspect(full)->started == 1);

    REQUIRE(store->release_leases(full, false)->size() == 1);
    const auto given = store->ask(asked);
    REQUIRE(given);
    for (const auto& answer : *given)
        CHECK(answer.leased);
    for (const auto& key : {full, idle, known})
        CHECK(store->inspect(key)->places == 1);
    CHECK(store->keys("*")->size() == 3);
    for (const auto& key : {full, idle, known})
        CHECK(store->release(key, {question.id, false})->state == LeaseState::held);
    CHECK(store->inspect(known)->registration->who == "me");
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
        REQUIRE(store->set_registration(key_named(name),
                                        Registration{terms_of(rate_of(1, 1s)), 1, std::string(800, 'w')}));
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
