// SPDX-License-Identifier: MIT
#include "config/settings.hpp"

#include <map>

#include "support/catch.hpp"

using namespace jobthrottle;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using Variables = std::map<std::string, std::string>;

namespace {

Result<Settings> resolve(const Variables& variables, const std::vector<GivenOption>& options = {}) {
    return resolve_settings(
        [&variables](const char* name) -> const char* {
            const auto found = variables.find(name);
            return found == variables.end() ? nullptr : found->second.c_str();
        },
        options);
}

}  // namespace

TEST_CASE("settings: nothing given means the defaults of the contract", "[unit]") {
    const auto settings = resolve({});
    REQUIRE(settings.ok());
    CHECK(settings->store.value == "local:");
    CHECK(settings->store.is_default());
    CHECK_FALSE(settings->password.value.has_value());
    CHECK(settings->on_store_error.value == OnStoreError::automatic);
    CHECK(settings->store_patience.value == 60s);
    CHECK(settings->connect_timeout.value == 1s);
    CHECK(settings->command_timeout.value == 2s);
    CHECK(settings->max_wait.value == std::optional<Duration>{1h});
    CHECK(settings->max_pause.value == 24h);
    CHECK(settings->default_pause.value == 60s);
    CHECK(settings->notice_after.value == 5s);
    CHECK(settings->throttled_exit.value == 75);
    CHECK_FALSE(settings->lock_for.value.has_value());
}

TEST_CASE("settings: options win over the environment, which wins over the defaults", "[unit]") {
    const Variables variables = {{"JOBTHROTTLE_STORE", "redis://ci"}, {"JOBTHROTTLE_MAX_WAIT", "20m"}};
    const auto settings = resolve(variables, {{"--max-wait", "1m"}, {"--max-wait", "forever"}});
    REQUIRE(settings.ok());
    CHECK(settings->store.value == "redis://ci");
    CHECK(settings->store.given_by == "JOBTHROTTLE_STORE");
    CHECK_FALSE(settings->max_wait.value.has_value());
    CHECK(settings->max_wait.given_by == "--max-wait");
    CHECK(settings->prefix.is_default());
}

TEST_CASE("settings: every option and variable takes a right value and keeps who gave it", "[unit]") {
    const Variables right = {
        {"--store", "redis://host"}, {"--prefix", "billing"},      {"--on-store-error", "closed"},
        {"--store-patience", "0"},   {"--connect-timeout", "1ms"}, {"--command-timeout", "1h"},
        {"--max-wait", "0"},         {"--max-pause", "24h"},       {"--default-pause", "1s"},
        {"--notice-after", "0.5"},   {"--throttled-exit", "0"},    {"JOBTHROTTLE_PASSWORD", "secret"},
        {"--lock-for", "1s"}};
    std::size_t seen = 0;
    for (const auto& [option, variable] : setting_names()) {
        const std::string name(option.empty() ? variable : option);
        INFO(name);
        REQUIRE(right.count(name) == 1);
        ++seen;
        CHECK(resolve({{std::string(variable), right.at(name)}}).ok());
        if (!option.empty()) CHECK(resolve({}, {{name, right.at(name)}}).ok());
    }
    CHECK(seen == right.size());
}

TEST_CASE("settings: a bad value names who gave it, the value and a right one", "[unit]") {
    const std::vector<GivenOption> bad = {{"--store", "local:here"},    {"--prefix", "a{b}"},
                                          {"--prefix", ".."},           {"--prefix", std::string(65, 'a')},
                                          {"--prefix", "a/b"},          {"--on-store-error", "wait"},
                                          {"--store-patience", "soon"}, {"--connect-timeout", "0"},
                                          {"--command-timeout", "2h"},  {"--max-wait", "ever"},
                                          {"--max-wait", "-1"},         {"--max-pause", "10ms"},
                                          {"--max-pause", "25h"},       {"--default-pause", "367d"},
                                          {"--notice-after", "5x"},     {"--throttled-exit", "256"},
                                          {"--throttled-exit", "-1"},   {"--throttled-exit", "1.5"},
                                          {"--lock-for", "0"},          {"--lock-for", "367d"}};
    const Variables variable_of = [] {
        Variables names;
        for (const auto& [option, variable] : setting_names())
            names.emplace(option, variable);
        return names;
    }();
    for (const auto& [option, value] : bad) {
        INFO(option << " " << value);
        const auto by_option = resolve({}, {{option, value}});
        REQUIRE_FALSE(by_option.ok());
        CHECK(by_option.error().kind == ErrorKind::usage);
        CHECK_THAT(by_option.error().message,
                   Catch::Matchers::StartsWith(option + " '" + value.substr(0, 60)));
        CHECK_THAT(by_option.error().message, ContainsSubstring("for example"));
        const std::string& variable = variable_of.at(option);
        const auto by_variable = resolve({{variable, value}});
        REQUIRE_FALSE(by_variable.ok());
        CHECK(by_variable.error().kind == ErrorKind::config);
        CHECK_THAT(by_variable.error().message, Catch::Matchers::StartsWith(variable + " '"));
    }
}

TEST_CASE("settings: a variable that is set but empty is an error, whatever the options say", "[unit]") {
    for (const auto& [option, variable] : setting_names()) {
        INFO(variable);
        const auto settings = resolve({{std::string(variable), ""}}, {{"--store", "local:"}});
        REQUIRE_FALSE(settings.ok());
        CHECK(settings.error().kind == ErrorKind::config);
        CHECK_THAT(settings.error().message, ContainsSubstring(std::string(variable) + " is set but empty"));
    }
    const auto settings = resolve({}, {{"--store", ""}});
    REQUIRE_FALSE(settings.ok());
    CHECK(settings.error().kind == ErrorKind::usage);
}

TEST_CASE("settings: a test that asks for the fake never gets the real store", "[unit]") {
    const auto faked = resolve({{"JOBTHROTTLE_FAKE", "/tmp/fake"}}, {{"--store", "redis://host"}});
    REQUIRE_FALSE(faked.ok());
    CHECK(faked.error().kind == ErrorKind::config);
    CHECK_THAT(faked.error().message, ContainsSubstring("JOBTHROTTLE_FAKE"));
    CHECK(resolve({{"JOBTHROTTLE_FAKE", ""}}).ok());
}

TEST_CASE("settings: values are escaped in messages and cut", "[unit]") {
    const auto settings = resolve({}, {{"--max-wait", "\x1b[31m" + std::string(500, 'x')}});
    REQUIRE_FALSE(settings.ok());
    CHECK(settings.error().message.find('\x1b') == std::string::npos);
    CHECK(settings.error().message.size() < 250);
}
