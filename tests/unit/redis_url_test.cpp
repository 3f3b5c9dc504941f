// SPDX-License-Identifier: MIT
#include "store/open.hpp"
#include "store/redis/url.hpp"
#include "support/catch.hpp"

namespace jobthrottle {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("url: takes the forms of a Redis", "[unit]") {
    struct Row {
        const char* text;
        const char* host;
        int port;
        const char* user;
        const char* password;  // null: none
        int database;
        const char* shown;
    };
    const std::vector<Row> rows = {
        {"redis://ci-redis", "ci-redis", 6379, "", nullptr, 0, "redis://ci-redis:6379/0"},
        {"REDIS://h:7000/15", "h", 7000, "", nullptr, 15, "redis://h:7000/15"},
        {"redis://h/", "h", 6379, "", nullptr, 0, "redis://h:6379/0"},
        {"redis://:pw@h", "h", 6379, "", "pw", 0, "redis://:***@h:6379/0"},
        {"redis://me:p%40w%2F%25@h:1", "h", 1, "me", "p@w/%", 0, "redis://me:***@h:1/0"},
        {"redis://me:a:b@h", "h", 6379, "me", "a:b", 0, "redis://me:***@h:6379/0"},
        {"redis://me:a@b@h", "h", 6379, "me", "a@b", 0, "redis://me:***@h:6379/0"},
        {"redis://me@h", "h", 6379, "me", nullptr, 0, "redis://me@h:6379/0"},
        {"redis://:@h", "h", 6379, "", "", 0, "redis://:***@h:6379/0"},
        {"redis://[::1]:65535/2", "::1", 65535, "", nullptr, 2, "redis://[::1]:65535/2"},
        {"redis://[fe80::1]", "fe80::1", 6379, "", nullptr, 0, "redis://[fe80::1]:6379/0"},
    };
    for (const auto& row : rows) {
        INFO(row.text);
        const auto url = parse_redis_url(row.text);
        REQUIRE(url.ok());
        CHECK(url->host == row.host);
        CHECK(url->port == row.port);
        CHECK(url->user == row.user);
        CHECK(url->password.has_value() == (row.password != nullptr));
        CHECK(url->password.value_or("") == (row.password != nullptr ? row.password : ""));
        CHECK(url->database == row.database);
        CHECK(url->shown() == row.shown);
        CHECK(url->socket_path.empty());
    }
}

TEST_CASE("url: takes the forms of a socket", "[unit]") {
    const auto plain = parse_redis_url("unix:///run/redis/s");
    REQUIRE(plain.ok());
    CHECK(plain->socket_path == "/run/redis/s");
    CHECK(plain->host.empty());
    CHECK(plain->shown() == "unix:///run/redis/s");
    const auto full = parse_redis_url("unix://me:p%40@/run/a%20b@c?db=4");
    REQUIRE(full.ok());
    CHECK(full->socket_path == "/run/a b@c");
    CHECK(full->user == "me");
    CHECK(full->password == "p@");
    CHECK(full->database == 4);
    CHECK(full->shown() == "unix://me:***@/run/a b@c?db=4");
}

TEST_CASE("url: an ill-formed one is told with a right one and without its password", "[unit]") {
    for (const char* text : {"redis://",
                             "redis:///1",
                             "redis://:6379",
                             "redis://h:0",
                             "redis://h:65536",
                             "redis://h:x",
                             "redis://h:",
                             "redis://h/x",
                             "redis://h/1/2",
                             "redis://h/-1",
                             "redis://h/99999999999999999999",
                             "redis://h?db=1",
                             "redis://h#x",
                             "redis://u:s3cret@",
                             "redis://u:s3cret/x@h",
                             "redis://u:s3%cret@h",
                             "redis://u:s3cret%4@h",
                             "redis://::1",
                             "redis://[::1",
                             "redis://[::1]6379",
                             "redis://h%00",
                             "redis:h",
                             "unix://run/s",
                             "unix:///",
                             "unix://",
                             "unix:///s?x=1",
                             "unix:///s?db=",
                             "unix:///a%00b",
                             "unix://u:s3cret/s",
                             "http://h",
                             ""}) {
        INFO(text);
        const auto url = parse_redis_url(text);
        REQUIRE_FALSE(url.ok());
        CHECK(url.error().kind == ErrorKind::usage);
        CHECK_THAT(url.error().message, ContainsSubstring("for example redis://ci-redis:6379/0"));
        if (std::string_view(text).find('@') != std::string_view::npos) {
            CHECK(url.error().message.find("s3") == std::string::npos);
        }
    }
    CHECK_FALSE(parse_redis_url("unix:///" + std::string(120, 'x')).ok());
}

TEST_CASE("url: what this version does not speak is a matter of configuration", "[unit]") {
    for (const char* text : {"rediss://u:s3cret@h", "redis+sentinel://h/mymaster", "redis+cluster://h"}) {
        const auto url = parse_redis_url(text);
        REQUIRE_FALSE(url.ok());
        CHECK(url.error().kind == ErrorKind::config);
        CHECK_THAT(url.error().message, ContainsSubstring("not in this version"));
        CHECK(url.error().message.find("s3cret") == std::string::npos);
        StoreNotices notices;
        StoreSettings settings;
        settings.url = text;
        CHECK(open_store(settings, notices).error().kind == ErrorKind::config);
    }
}

TEST_CASE("open: the fake is not in this version", "[unit]") {
    for (const char* text : {"fake:/x", "fake:", "FAKE:/x"}) {
        StoreNotices notices;
        StoreSettings settings;
        settings.url = text;
        const auto store = open_store(settings, notices);
        REQUIRE_FALSE(store.ok());
        CHECK(store.error().kind == ErrorKind::config);
        CHECK_THAT(store.error().message, ContainsSubstring(text));
        CHECK_THAT(store.error().message, ContainsSubstring("not in this version"));
    }
}

TEST_CASE("open: knows the stores by their schemes and nothing else", "[unit]") {
    StoreNotices notices;
    StoreSettings settings;
    for (const char* text :
         {"memory:", "/var/lib/x", "ci-redis:6379", "redis", "", "ftp://u:s3cret@h", "local"}) {
        settings.url = text;
        const auto store = open_store(settings, notices);
        INFO(text);
        REQUIRE_FALSE(store.ok());
        CHECK(store.error().kind == ErrorKind::usage);
        CHECK_THAT(store.error().message, ContainsSubstring("local:"));
        CHECK_THAT(store.error().message, ContainsSubstring("redis://ci-redis:6379/0"));
        CHECK(store.error().message.find("s3cret") == std::string::npos);
    }
    settings.url = "redis://me@h";
    CHECK(open_store(settings, notices).error().kind == ErrorKind::config);
    settings.password = "s3cret";
    const auto store = open_store(settings, notices);
    REQUIRE(store.ok());
    CHECK((*store)->name() == "redis://me:***@h:6379/0");
    settings.url = "local:relative";
    CHECK(open_store(settings, notices).error().kind == ErrorKind::config);
    CHECK(notices.empty());
}

}  // namespace jobthrottle
