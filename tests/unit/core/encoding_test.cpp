// SPDX-License-Identifier: MIT
#include "core/header.hpp"
#include "core/registration.hpp"
#include "core/report.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace std::chrono_literals;

namespace {

Header some_header() {
    Header header;
    header.birth_us = 1'700'000'000'000'001;
    header.offset_us = 3'600'000'000;
    header.last_start_us = -5;  // before the clock's zero
    header.paused_until_us = k_forever_us;
    header.idle_until_us = 258;
    header.rows[0].slot_us = -6;
    header.rows[0].slot_rest = 6;
    header.rows[0].slot_allow = 7;
    header.rows[0].log_total = (std::int64_t{1} << 52) + 1;
    header.rows[0].last_burst = 2;
    header.rows[2].log_group = 513;
    header.rows[2].log_until_us = 9;
    return header;
}

}  // namespace

TEST_CASE("header: has 640 bytes that are read back as they were", "[unit]") {
    const std::string bytes = encode(some_header());
    CHECK(bytes.size() == 640);
    const auto header = decode_header(bytes);
    REQUIRE(header.has_value());
    CHECK(fields_of(*header) == fields_of(some_header()));
}

TEST_CASE("header: the bytes do not depend on the machine", "[unit]") {
    const std::string bytes = encode(some_header());
    CHECK(bytes.substr(0, 8) == std::string("jtk\x02\0\0\0\0", 8));
    CHECK(bytes.substr(8 + 8 * 26, 8) == std::string("\x02\x01\0\0\0\0\0\0", 8));  // idle_until_us
    CHECK(bytes.substr(8 + 8 * 3, 8) == std::string("\xfb\xff\xff\xff\xff\xff\xff\xff", 8));
    const auto row = [&](std::size_t n) { return bytes.substr(8 + 8 * 27 + 96 * n, 96); };
    CHECK(row(0).substr(0, 8) == std::string("\xfa\xff\xff\xff\xff\xff\xff\xff", 8));
    CHECK(row(1) == std::string(96, '\0'));  // in between, as new
    CHECK(row(2).substr(8 * 4, 8) == std::string("\x01\x02\0\0\0\0\0\0", 8));
    CHECK(row(3) == std::string(96, '\0'));
    CHECK(bytes.substr(8 + 8 * 27 + 96 * 4) == std::string(32, '\0'));
}

TEST_CASE("header: what is newer, foreign or short is told apart", "[unit]") {
    HeaderProblem problem = HeaderProblem::none;
    std::string bytes = encode(some_header());
    CHECK(decode_header(bytes, &problem));
    CHECK(problem == HeaderProblem::none);
    CHECK(decode_header(bytes + "more", &problem));  // a longer record of this version

    bytes[3] = 3;
    CHECK_FALSE(decode_header(bytes, &problem));
    CHECK(problem == HeaderProblem::newer);
    for (const char other : {'\0', '\1'}) {  // 1 was never released
        bytes[3] = other;
        CHECK_FALSE(decode_header(bytes, &problem));
        CHECK(problem == HeaderProblem::foreign);
    }
    bytes[3] = 2;
    bytes[0] = 'x';
    CHECK_FALSE(decode_header(bytes, &problem));
    CHECK(problem == HeaderProblem::foreign);

    for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{8}, std::size_t{639}}) {
        CHECK_FALSE(decode_header(encode(some_header()).substr(0, size), &problem));
        CHECK(problem == HeaderProblem::foreign);
    }
}

TEST_CASE("header: short times are read against a later one", "[unit]") {
    const std::int64_t later = 1'700'000'000'000'000;
    for (const std::int64_t ago :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{31'622'400'000'000}, k_short_time_span - 1}) {
        CHECK(lengthen(shorten(later - ago), later) == later - ago);
    }
    CHECK(shorten(later) < k_short_time_span);
}

TEST_CASE("header: a slot taken under other numbers is rounded up, never early", "[unit]") {
    LimitRow row;
    const Rate seven = *Rate::make(7, 1s), eight = *Rate::make(8, 1s);
    CHECK_FALSE(row.slot_for(seven).has_value());
    row.take_slot({100, 3}, seven, 1);
    CHECK(row.slot_for(seven) == Slot{100, 3});
    CHECK(row.slot_for(eight) == Slot{101, 0});
    row.take_slot({100, 0}, seven, 1);
    CHECK(row.slot_for(eight) == Slot{100, 0});
}

TEST_CASE("registration: is read back as it was, and garbage is nothing", "[unit]") {
    const auto terms = Terms::make({*parse_rate("500/min,burst=20"), *parse_rate("90k/h")}, 4).value();
    const Registration registration{terms, 1'700'000'000, "ops on host 7"};
    CHECK(encode(registration) == "1700000000 4 2 90000 3600000000 1 90000 500 60000000 20 20 ops on host 7");
    const auto back = decode_registration(encode(registration));
    REQUIRE(back.has_value());
    CHECK(back->terms == terms);
    CHECK(back->terms.given() == terms.given());
    CHECK(back->at_s == registration.at_s);
    CHECK(back->who == registration.who);
    CHECK(decode_registration("0 0 1 8 1000000 1 8 ").has_value());
    CHECK(decode_registration("0 3 0 who").has_value());
    for (const char* bad :
         {"", "8", "0 0 0 who", "0 0 1 8 1000000 1 8", "0 0 1 8 1000000 x 8 who", "0 0 1 0 1000000 1 1 who",
          "0 0 1 8 0 1 8 who", "0 0 1 8 1000000 9 8 who", "0 0 1 8 1000000 1 9 who",
          "0 0 1 8 1000000 1 0 who", "0 0 1 -8 1000000 1 8 who", "0 0 2 8 1000000 1 8 who", "0 0 5 who",
          "0 0 2 8 1000000 1 8 9 1000000 1 9 who"}) {
        INFO(bad);
        CHECK_FALSE(decode_registration(bad).has_value());
    }
}

TEST_CASE("pause note: any bytes are read back as they were, and garbage is nothing", "[unit]") {
    PauseNote note;
    note.summary = "HTTP 429, Retry-After: 1800";
    note.line = std::string("a:b,\0\n\xff", 7);
    note.stream = "stdout";
    note.who = "dev@box:771";
    note.at_s = 1'700'000'000;
    const auto back = decode_pause_note(encode(note));
    REQUIRE(back.has_value());
    CHECK(back->summary == note.summary);
    CHECK(back->line == note.line);
    CHECK(back->stream == note.stream);
    CHECK(back->job.empty());
    CHECK(back->who == note.who);
    CHECK(back->reason.empty());
    CHECK(back->at_s == note.at_s);
    const std::string whole = encode(note);
    for (std::size_t size = 0; size < whole.size(); ++size)
        CHECK_FALSE(decode_pause_note(whole.substr(0, size)).has_value());
    for (const char* bad : {"5:abc,", "99999999999999999999:a,", "-1:,", "x", ":,"})
        CHECK_FALSE(decode_pause_note(bad).has_value());
}

TEST_CASE("ticket: a named one cannot meet a runner's", "[unit]") {
    CHECK(named_ticket("nightly") == named_ticket("nightly"));
    CHECK(named_ticket("nightly") != named_ticket("nightlz"));
    CHECK((named_ticket("") & k_named_ticket_bit) != 0);
    CHECK(named_ticket("a") == (0xaf63dc4c8601ec8cU | k_named_ticket_bit));  // FNV-1a's own example
}

TEST_CASE("ticket: steps out 100 ms after the time it was told, then is forgotten", "[unit]") {
    Ticket ticket;
    ticket.told_us = 1'000'000;
    ticket.keep = k_runner_keep;
    CHECK(ticket.deadline_us() == 1'100'000);
    ticket.place = Place::out;
    CHECK(ticket.deadline_us() == 601'000'000);
    ticket.place = Place::in_line;
    ticket.keep = 50ms;  // kept shorter than a late one waits
    CHECK(ticket.deadline_us() == 1'050'000);
}
