// SPDX-License-Identifier: MIT
#include "output/columns.hpp"
#include "output/wall_clock.hpp"
#include "output/wording.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace std::chrono_literals;

TEST_CASE("columns: wide characters take two, combining marks none", "[unit]") {
    CHECK(display_width("") == 0);
    CHECK(display_width("abc") == 3);
    CHECK(display_width("h\u00e9") == 2);
    CHECK(display_width("e\u0301") == 1);
    CHECK(display_width("\u65e5\u672c") == 4);
    CHECK(display_width("\uff21") == 2);
    CHECK(display_width("\U0001F600") == 2);
    CHECK(display_width("\U00020000") == 2);
}

TEST_CASE("columns: what is cut says so, and no character is torn", "[unit]") {
    CHECK(cut_to_width("deploy", 6) == "deploy");
    CHECK(cut_to_width("deploy", 5) == "dep..");
    CHECK(cut_to_width("deploy", 3) == "dep");
    CHECK(cut_to_width("deploy", 0).empty());
    CHECK(cut_to_width("\u65e5\u672c\u8a9e", 5) == "\u65e5..");
    CHECK(cut_to_width("\u65e5\u672c\u8a9e", 6) == "\u65e5\u672c\u8a9e");
    CHECK(cut_to_width("\u65e5\u672c", 3) == "\u65e5");
    CHECK(bytes_within("\u65e5\u672c", 3) == 3);
    CHECK(bytes_within("e\u0301x", 1) == 3);
}

TEST_CASE("columns: lines break at spaces, and inside words that are longer than a line", "[unit]") {
    using Lines = std::vector<std::string>;
    CHECK(wrap("", 10) == Lines{""});
    CHECK(wrap("one two", 7) == Lines{"one two"});
    CHECK(wrap("one two", 6) == Lines{"one", "two"});
    CHECK(wrap("one two three", 7) == Lines{"one two", "three"});
    CHECK(wrap("one   two", 4) == Lines{"one", "two"});
    CHECK(wrap("abcdefgh ij", 3) == Lines{"abc", "def", "gh", "ij"});
    CHECK(wrap("\u65e5\u672c\u8a9e", 3) == Lines{"\u65e5", "\u672c", "\u8a9e"});
}

TEST_CASE("columns: a table drops columns before it cuts more than a cell may lose", "[unit]") {
    using Lines = std::vector<std::string>;
    const Column name{"name", {"a-long-name-here", "b"}, Align::left, 0, 8};
    const Column count{"n", {"1", "200"}, Align::right, 2};
    const Column note{"note", {"first", "second"}, Align::left, 1};
    const std::vector<Column> columns{name, count, note};
    CHECK(table(columns, 40) == Lines{"name                n  note", "a-long-name-here    1  first",
                                      "b                 200  second"});
    CHECK(table(columns, 21) ==
          Lines{"name        n  note", "a-long..    1  first", "b         200  second"});
    CHECK(table(columns, 20) ==
          Lines{"name               n", "a-long-name-h..    1", "b                200"});
    CHECK(table(columns, 10) == Lines{"name", "a-long-n..", "b"});
    CHECK(table(columns, 5) == Lines{"name", "a-l..", "b"});
}

TEST_CASE("wall clock: times in a zone, as short as is clear", "[unit]") {
    const WallTime noon = wall_time_s(1'794'405'802);  // 2026-11-11 14:03:22 UTC
    CHECK(clock_text(noon, 0) == "14:03:22");
    CHECK(clock_text(noon, 3600) == "15:03:22");
    CHECK(clock_text(noon, -9 * 3600 - 1800) == "04:33:22");
    CHECK(clock_text(noon + 999ms, 0) == "14:03:22");

    const LocalTime now{noon, 0};
    CHECK(moment_text(noon + 1665s, now) == "14:31:07");
    CHECK(moment_text(noon + 1664s + 1us, now) == "14:31:07");
    CHECK(moment_text(noon + 10h, now) == "12 Nov 00:03");
    CHECK(moment_text(noon + 10h, {noon, -2 * 3600}) == "22:03:22");
    CHECK(moment_text(noon - 24h, now) == "10 Nov 14:03");
    CHECK(moment_text(noon + 24h * 183, now) == "13 May 14:03");
    CHECK(moment_text(noon + 24h * 300, now) == "7 Sep 2027");
    CHECK(moment_text(noon - 24h * 300, now) == "15 Jan 2026");
}

TEST_CASE("wording: numbers as people read them", "[unit]") {
    CHECK(count_text(0) == "0");
    CHECK(count_text(999) == "999");
    CHECK(count_text(8'204) == "8,204");
    CHECK(count_text(1'000'000) == "1,000,000");
    CHECK(count_text(-1'000) == "-1,000");
    CHECK(count_text(-100) == "-100");
    CHECK(period_text(1s) == "1 s");
    CHECK(period_text(60s) == "60 s");
    CHECK(period_text(1h) == "1h");
    CHECK(period_text(500ms) == "500ms");
    CHECK(spacing_text(*Rate::make(80, 60s)) == "750 ms");
    CHECK(spacing_text(*Rate::make(3, 1s)) == "333 ms");
    CHECK(spacing_text(*Rate::make(80, 1s)) == "12.5 ms");
    CHECK(spacing_text(*Rate::make(1'000'000, 1s)) == "1 us");
    CHECK(spacing_text(*Rate::make(5, 6s)) == "1.2 s");
    CHECK(spacing_text(*Rate::make(1, 1s)) == "1 s");
    CHECK(spacing_text(*Rate::make(1, 24h)) == "1d00h");
    CHECK(spacing_text(*Rate::make(10'000, 9'999'900ms)) == "1000 ms");
    CHECK(past_text(0s) == "0 s");
    CHECK(past_text(1'900us) == "1 ms");
    CHECK(past_text(1'990ms) == "1.9 s");
    CHECK(past_text(60'006ms) == "1m00s");
    CHECK(past_text(2h - 1s) == "1h59m");
    CHECK(past_text(48h - 1s) == "1d23h");
    CHECK(ceil_ms(1us) == 1);
    CHECK(ceil_ms(2ms) == 2);
    CHECK(ceil_seconds(41'000'001us) == 42);
    CHECK_FALSE(is_for_ever(24h * 366));
    CHECK_FALSE(is_for_ever(24h * 366 * 64));  // the last place that is known exactly
    CHECK(is_for_ever(Duration{k_forever_us - (std::int64_t{1} << 51)}));
}

TEST_CASE("columns: a cut falls behind a word, where that leaves more than half", "[unit]") {
    CHECK(cut_at_word("two words", 9) == "two words");
    CHECK(cut_at_word("one two three", 12) == "one two..");
    CHECK(cut_at_word("one two, three", 11) == "one two..");
    CHECK(cut_at_word("one two three", 9) == "one two..");
    CHECK(cut_at_word("a longword", 9) == "a longw..");
    CHECK(cut_at_word("longword", 3) == "lon");
    CHECK(cut_at_word("", 5).empty());
}

TEST_CASE("wording: a key stands in a shell command as one word", "[unit]") {
    CHECK(command_for("resume", "github") == "jobthrottle resume github");
    CHECK(command_for("resume", "aws:42:ec2") == "jobthrottle resume aws:42:ec2");
    CHECK(command_for("resume", "a b") == "jobthrottle resume 'a b'");
    CHECK(command_for("resume", "it's $HOME") == "jobthrottle resume 'it'\\''s $HOME'");
    CHECK(command_for("resume", "-x") == "jobthrottle resume --key=-x");
    CHECK(command_for("resume", "a\nb'\\") == "jobthrottle resume $'a\\x0ab\\'\\\\'");
    CHECK(command_for("resume", "\xff") == "jobthrottle resume $'\\xff'");
    CHECK(command_for("resume", std::string("a\0b", 3)) == "jobthrottle resume $'a\\x00b'");
    CHECK(command_for("register", "-x", " -r 5/s") == "jobthrottle register --key=-x -r 5/s");
    CHECK(command_for("resume", "~root") == "jobthrottle resume '~root'");
}
