// SPDX-License-Identifier: MIT
#include "base/text.hpp"

#include "support/catch.hpp"

using namespace jobthrottle;

TEST_CASE("text: whole numbers use the whole string and know their bounds", "[unit]") {
    CHECK(parse_whole_number("0") == 0);
    CHECK(parse_whole_number("007") == 7);
    CHECK(parse_whole_number("9223372036854775807") == INT64_MAX);
    for (const char* bad : {"", "-1", "+1", " 1", "1 ", "1x", "9223372036854775808", "0x10", "1e3"}) {
        CHECK_FALSE(parse_whole_number(bad).has_value());
    }
}

TEST_CASE("text: what is shown holds no control character and is unambiguous", "[unit]") {
    CHECK(escape_for_display("a\x1b[31m\n\t\r\\") == "a\\x1b[31m\\n\\t\\r\\\\");
    CHECK(escape_for_display("z\xc3\xbc\xe2\x82\xac") == "z\xc3\xbc\xe2\x82\xac");
    CHECK(escape_for_display("\xc2\x9b"
                             "1m\xff\xc3") == "\\xc2\\x9b1m\\xff\\xc3");
    CHECK(escape_for_display(std::string_view("\0\x7f", 2)) == "\\x00\\x7f");
}

TEST_CASE("text: UTF-8 is judged strictly", "[unit]") {
    CHECK(is_valid_utf8("plain \xf0\x9f\x98\x80"));
    for (const char* bad : {"\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\xe2\x82"}) {
        CHECK_FALSE(is_valid_utf8(bad));
    }
}

TEST_CASE("text: the nearest word is offered only when it is near", "[unit]") {
    CHECK(nearest_word("amce", {"acme", "github"}) == "acme");
    CHECK_FALSE(nearest_word("zzz", {"acme", "github"}).has_value());
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("abcd", "abdc") == 1);
}
