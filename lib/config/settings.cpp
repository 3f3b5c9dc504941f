// SPDX-License-Identifier: MIT
#include "config/settings.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "core/duration.hpp"

namespace jobthrottle {

namespace {

using namespace std::chrono_literals;

std::string quoted(std::string_view text) {
    return "'" + escape_for_display(text.substr(0, 60)) + "'";
}

Error want(std::string_view text, const std::string& wanted) {
    return usage_error(quoted(text) + ": want " + wanted);
}

using Given = std::string_view;

template <typename T>
void put(Setting<T>& setting, T value, const std::string& given_by) {
    setting.value = std::move(value);
    setting.given_by = given_by;
}

// Takes a value of one row of the table. The error's message lacks who gave it.
using Take = Result<void> (*)(Settings&, Given text, const std::string& given_by);

template <Setting<Duration> Settings::*member, std::int64_t least_us, std::int64_t most_us>
Result<void> take_duration(Settings& settings, Given text, const std::string& given_by) {
    const auto duration = parse_duration(text);
    if (!duration) return duration.error();
    if (*duration < Duration{least_us} || *duration > Duration{most_us}) {
        return want(text, "a duration from " + format_duration_exactly(Duration{least_us}) + " to " +
                              format_duration_exactly(Duration{most_us}) + ", for example " +
                              format_duration_exactly((Settings{}.*member).value));
    }
    put(settings.*member, *duration, given_by);
    return {};
}

constexpr std::int64_t k_longest_us = k_longest_duration.count();
constexpr std::int64_t k_millisecond_us = 1'000;
constexpr std::int64_t k_second_us = 1'000'000;
constexpr std::int64_t k_hour_us = 3600 * k_second_us;
constexpr std::int64_t k_day_us = 24 * k_hour_us;  // no provider pauses a key for longer, whatever it asks

Result<void> take_store(Settings& settings, Given text, const std::string& given_by) {
    if (text.empty())
        return usage_error("the store is empty: want for example redis://host or local:/var/lib/jobs");
    constexpr Given k_local = "local:";
    const bool is_local = starts_with_ignoring_case(text, k_local);
    if (is_local && text.size() > k_local.size() && text[k_local.size()] != '/') {
        return want(text, "local: alone or with an absolute path, for example local:/var/tmp/jobs");
    }
    put(settings.store, std::string(text), given_by);
    return {};
}

Result<void> take_password(Settings& settings, Given text, const std::string& given_by) {
    put(settings.password, std::optional<std::string>(text), given_by);
    return {};
}

// It becomes part of a file's name and of Redis's keys, where braces choose the slot.
Result<void> take_prefix(Settings& settings, Given text, const std::string& given_by) {
    constexpr std::size_t k_longest = 64;
    const bool fits = std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
               c == '_' || c == '.' || c == ':';
    });
    if (!fits || text.empty() || text.size() > k_longest || text.front() == '.') {
        return want(text, "1 to 64 letters, digits, '-', '_', '.' or ':', for example billing");
    }
    put(settings.prefix, std::string(text), given_by);
    return {};
}

Result<void> take_on_store_error(Settings& settings, Given text, const std::string& given_by) {
    struct Word {
        std::string_view word;
        OnStoreError policy;
    };
    static constexpr Word k_words[] = {{"auto", OnStoreError::automatic},
                                       {"local", OnStoreError::local},
                                       {"open", OnStoreError::open},
                                       {"closed", OnStoreError::closed}};
    for (const auto& [word, policy] : k_words) {
        if (text != word) continue;
        put(settings.on_store_error, policy, given_by);
        return {};
    }
    return want(text, "auto, local, open or closed, for example local");
}

Result<void> take_max_wait(Settings& settings, Given text, const std::string& given_by) {
    if (text == "forever") {
        put(settings.max_wait, std::optional<Duration>{}, given_by);
        return {};
    }
    const auto wait = parse_duration(text);
    if (!wait) return want(text, "a duration up to 366d or forever, for example 20m, 0 or forever");
    put(settings.max_wait, std::optional<Duration>{*wait}, given_by);
    return {};
}

Result<void> take_lock_for(Settings& settings, Given text, const std::string& given_by) {
    const auto length = parse_duration(text);
    if (!length || *length < 1s) return want(text, "a duration from 1s to 366d, for example 1m");
    put(settings.lock_for, std::optional<Duration>{*length}, given_by);
    return {};
}

Result<void> take_throttled_exit(Settings& settings, Given text, const std::string& given_by) {
    constexpr int k_most = 255;
    const auto code = parse_whole_number(text);
    if (!code || *code > k_most) return want(text, "an exit code from 0 to 255, for example 75");
    put(settings.throttled_exit, static_cast<int>(*code), given_by);
    return {};
}

struct Row {
    SettingNames names;
    Take take;
};

const std::vector<Row>& table() {
    static const std::vector<Row> rows = {
        {{"--store", "JOBTHROTTLE_STORE"}, take_store},
        {{"", "JOBTHROTTLE_PASSWORD"}, take_password},
        {{"--prefix", "JOBTHROTTLE_PREFIX"}, take_prefix},
        {{"--on-store-error", "JOBTHROTTLE_ON_STORE_ERROR"}, take_on_store_error},
        {{"--store-patience", "JOBTHROTTLE_STORE_PATIENCE"},
         take_duration<&Settings::store_patience, 0, k_longest_us>},
        {{"--connect-timeout", "JOBTHROTTLE_CONNECT_TIMEOUT"},
         take_duration<&Settings::connect_timeout, k_millisecond_us, k_hour_us>},
        {{"--command-timeout", "JOBTHROTTLE_COMMAND_TIMEOUT"},
         take_duration<&Settings::command_timeout, k_millisecond_us, k_hour_us>},
        {{"--max-wait", "JOBTHROTTLE_MAX_WAIT"}, take_max_wait},
        {{"--max-pause", "JOBTHROTTLE_MAX_PAUSE"},
         take_duration<&Settings::max_pause, k_second_us, k_day_us>},
        {{"--default-pause", "JOBTHROTTLE_DEFAULT_PAUSE"},
         take_duration<&Settings::default_pause, k_second_us, k_longest_us>},
        {{"--notice-after", "JOBTHROTTLE_NOTICE_AFTER"},
         take_duration<&Settings::notice_after, 0, k_longest_us>},
        {{"--throttled-exit", "JOBTHROTTLE_THROTTLED_EXIT"}, take_throttled_exit},
        {{"--lock-for", "JOBTHROTTLE_LOCK_FOR"}, take_lock_for},
    };
    return rows;
}

Result<void> take_from_environment(Settings& settings, const Row& row, const Environment& environment) {
    const std::string name(row.names.variable);
    const char* value = environment(name.c_str());
    if (value == nullptr) return {};
    if (*value == '\0') {
        return config_error(name + " is set but empty: give it a value, or unset it");
    }
    const auto taken = row.take(settings, value, name);
    if (!taken) return config_error(name + " " + taken.error().message);
    return {};
}

}  // namespace

Result<Settings> resolve_settings(const Environment& environment, const std::vector<GivenOption>& options) {
    Settings settings;
    // Whoever set it means to be safe from the real store.
    if (const char* fake = environment("JOBTHROTTLE_FAKE"); fake != nullptr && *fake != '\0') {
        return config_error(
            "JOBTHROTTLE_FAKE is set, and this version does not have the fake: unset it, or give the "
            "test a store of its own, for example JOBTHROTTLE_STORE=local:/tmp/test");
    }
    for (const auto& row : table()) {
        if (auto taken = take_from_environment(settings, row, environment); !taken) return taken.error();
    }
    for (const auto& given : options) {
        const auto& rows = table();
        const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& candidate) {
            return candidate.names.option == given.option;
        });
        if (row == rows.end()) return internal_error(given.option + " sets nothing");
        const auto taken = row->take(settings, given.value, given.option);
        if (!taken) return usage_error(given.option + " " + taken.error().message);
    }
    return settings;
}

const std::vector<SettingNames>& setting_names() {
    static const std::vector<SettingNames> names = [] {
        std::vector<SettingNames> all;
        for (const auto& row : table())
            all.push_back(row.names);
        return all;
    }();
    return names;
}

}  // namespace jobthrottle
