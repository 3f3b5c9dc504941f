// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "core/job_options.hpp"

namespace jobthrottle {

// A value and who gave it: "" for a default, else the option or the variable ("--store",
// "JOBTHROTTLE_STORE").
template <typename T>
struct Setting {
    T value;
    std::string given_by = {};
    bool is_default() const { return given_by.empty(); }
};

// What holds for every job of a caller, whatever its key. Resolved once, const after.
struct Settings {
    Setting<std::string> store{"local:"};
    Setting<std::optional<std::string>> password{std::nullopt};  // of the store; never shown
    Setting<std::string> prefix{"jobthrottle"};                  // keeps applications apart in one store
    Setting<OnStoreError> on_store_error{OnStoreError::automatic};
    Setting<Duration> store_patience{std::chrono::seconds{60}};
    Setting<Duration> connect_timeout{std::chrono::seconds{1}};        // 1 ms to 1 h
    Setting<Duration> command_timeout{std::chrono::seconds{2}};        // 1 ms to 1 h
    Setting<std::optional<Duration>> max_wait{std::chrono::hours{1}};  // none: for ever; zero: --no-wait
    Setting<Duration> max_pause{std::chrono::hours{24}};               // 1 s to 366 d
    Setting<Duration> default_pause{std::chrono::seconds{60}};         // 1 s to 366 d
    Setting<Duration> notice_after{std::chrono::seconds{5}};
    Setting<int> throttled_exit{75};  // 0 to 255
    // How long a concurrency place lasts unless a key says otherwise; none: as long as the command usually
    // has it. 1 s to 366 d.
    Setting<std::optional<Duration>> lock_for{std::nullopt};
};

// An option that sets one: {"--max-wait", "20m"}.
struct GivenOption {
    std::string option;
    std::string value;
};

// Asks for one variable of the environment; null when it is not set.
using Environment = std::function<const char*(const char* name)>;

// Options win over the environment, which wins over the defaults; of an option given twice the last counts.
// A bad value is an error even where another one wins: `usage` for an option, `config` for a variable, and a
// variable that is set but empty is bad (a secret that is missing must not change what holds). The message
// names the option or variable, the value (never a password) and a right example.
// REQUIRES: every option is one of setting_options().
Result<Settings> resolve_settings(const Environment& environment, const std::vector<GivenOption>& options);

// The options that set one, each with the variable that sets the same; "" where there is none.
struct SettingNames {
    std::string_view option;
    std::string_view variable;
};
const std::vector<SettingNames>& setting_names();

}  // namespace jobthrottle
