// SPDX-License-Identifier: MIT
#include "core/report.hpp"

#include "support/catch.hpp"
#include "support/desk.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

TEST_CASE("report: nothing is known of a new key", "[unit]") {
    Desk desk("8/s");
    const KeyReport report = desk.report();
    CHECK_FALSE(report.known);
    CHECK(report.terms.empty());
    CHECK(report.last_start_age_us == -1);
    CHECK(report.waiting.empty());
    CHECK(report.available_in == 0s);
}

TEST_CASE("report: says what the window holds and when a newcomer could start", "[unit]") {
    Desk desk("4/s");
    desk.ask(1);
    desk.at(250ms).ask(2);
    desk.at(300ms);
    KeyReport report = desk.report();
    CHECK(report.known);
    CHECK(report.terms == terms("4/s"));
    CHECK(report.limits.at(0).starts == 2);
    CHECK(report.limits.at(0).remaining == 2);
    CHECK(report.available_in == 200ms);
    CHECK(report.last_start_age_us == 50'000);
    CHECK(report.started == 2);
    desk.at(1s);
    CHECK(desk.report().limits.at(0).starts == 1);  // the first is a period old
}

TEST_CASE("report: lists those in line by number with their times, then the late", "[unit]") {
    Desk desk("1/s", 60s);
    desk.ask(1);
    for (TicketId place = 9; place >= 6; --place)
        desk.ask(place);  // numbers 1 to 4
    desk.at(1'050ms);     // 9 was told 900 ms
    const KeyReport report = desk.report();
    REQUIRE(report.waiting.size() == 4);
    CHECK(report.waiting[0].id == 8);
    CHECK(report.waiting[0].number == 2);
    CHECK(report.waiting[0].waited == 1'050ms);
    CHECK(report.waiting[0].asks_in == 850ms);
    CHECK(report.waiting[0].starts_in == 0s);
    CHECK(report.waiting[1].id == 7);
    CHECK(report.waiting[1].starts_in == 950ms);
    CHECK(report.waiting[3].id == 9);
    CHECK(report.waiting[3].place == Place::out);
    CHECK(report.waiting[3].asks_in == -150ms);
    CHECK(desk.place_of(9) == Place::in_line);  // looking changed nothing
}

TEST_CASE("report: of many that came late all are told as late", "[unit]") {
    Desk desk("1/s", 60s);
    constexpr std::size_t k_many = 100;  // opening a key moves fewer
    desk.ask(1);
    for (TicketId place = 1; place <= k_many; ++place)
        desk.ask(place + 1);
    desk.at(5min);
    const KeyReport report = desk.report();
    REQUIRE(report.waiting.size() == k_many);
    CHECK(report.waiting.front().place == Place::out);
    CHECK(report.available_in == 0s);
    desk.at(20min);
    CHECK_FALSE(desk.report().known);
}

TEST_CASE("report: the registered rate is in force, the note of the last pause stays", "[unit]") {
    Desk desk("8/s");
    desk.ask(1);
    desk.set_registered("4/s");
    PauseNote note;
    note.summary = "HTTP 429";
    pause(desk.records(), desk.now_us(), {10s, false, false, encode(note)});
    KeyReport report = desk.report();
    CHECK(report.terms == terms("4/s"));
    CHECK(report.paused_for == 10s);
    CHECK(report.available_in == 10s);
    REQUIRE(report.note.has_value());
    CHECK(report.note->summary == "HTTP 429");
    desk.at(11s);
    report = desk.report();
    CHECK(report.paused_for == 0s);
    CHECK(report.known);
    CHECK(report.note.has_value());
}

TEST_CASE("report: who waits is named, in at most 160 bytes", "[unit]") {
    Desk desk("1/s");
    desk.ask(1);
    Question question = desk.question(2);
    question.who = std::string(500, 'x');
    desk.ask(question);
    CHECK(desk.report().waiting.at(0).who == std::string(160, 'x'));
    question = desk.question(2);
    question.who = "another";
    desk.ask(question);
    CHECK(desk.report().waiting.at(0).who == std::string(160, 'x'));
}
