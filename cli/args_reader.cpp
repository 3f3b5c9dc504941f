// SPDX-License-Identifier: MIT
#include "cli/args_reader.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "cli/args_limits.hpp"

namespace jobthrottle {

namespace {

constexpr int k_most_waiting = 1'000'000;

bool is_setting(std::string_view option) {
    const auto& names = setting_names();
    return std::any_of(names.begin(), names.end(),
                       [&](const SettingNames& setting) { return setting.option == option; });
}

}  // namespace

ArgsReader::ArgsReader(const CommandRow& command, Words words, const Surroundings& surroundings)
    : m_command(command), m_words(std::move(words)), m_surroundings(surroundings) {}

void ArgsReader::fail(Error error) {
    if (!m_fault) m_fault = std::move(error);
}

void ArgsReader::want(Opt id, const std::string& value, const std::string& wanted) {
    fail(wrong_value(id, value, wanted));
}

std::string ArgsReader::text(Opt id, const std::string& fallback) const {
    const std::string* given = m_words.last(id);
    return given == nullptr ? fallback : *given;
}

Duration ArgsReader::duration(Opt id, Duration fallback, Duration least, Duration most) {
    const std::string* given = m_words.last(id);
    if (given == nullptr) return fallback;
    const auto duration = parse_duration(*given);
    if (duration && *duration >= least && *duration <= most) return *duration;
    want(id, *given,
         "a duration from " + format_duration_exactly(least) + " to " + format_duration_exactly(most));
    return fallback;
}

int ArgsReader::number(Opt id, int fallback, int least, int most) {
    const std::string* given = m_words.last(id);
    if (given == nullptr) return fallback;
    const auto number = parse_whole_number(*given);
    if (number && *number >= least && *number <= most) return static_cast<int>(*number);
    want(id, *given, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return fallback;
}

Common ArgsReader::common() {
    Common common;
    common.quiet = has(Opt::quiet);
    common.verbose = has(Opt::verbose);
    std::vector<GivenOption> given;
    for (const auto& [id, value] : m_words.options) {
        const OptionRow& row = row_of(id);
        // That of --lock-for belongs to a key; the variable alone holds for all.
        if (is_setting(row.name) && id != Opt::lock_for) given.push_back({std::string(row.name), value});
    }
    auto settings = resolve_settings(m_surroundings.environment, given);
    if (settings) {
        common.settings = std::move(settings).value();
    } else {
        fail(settings.error());
    }
    return common;
}

std::optional<std::string> ArgsReader::next_positional() {
    if (m_positional == m_words.positionals.size()) return std::nullopt;
    return m_words.positionals[m_positional++];
}

void ArgsReader::no_more_positionals() {
    const auto extra = next_positional();
    if (!extra) return;
    const std::string usage =
        "; want jobthrottle " + std::string(m_command.name) + " " + std::string(m_command.usage);
    fail(usage_error(in_quotes(*extra) +
                     (m_command.takes_command ? " stands before the --" : " is one word too many") + usage));
}

// The key that stands without --key. Nothing, and a fault, where there is none.
std::optional<std::string> ArgsReader::key_word() {
    if (!m_command.takes_command) {
        if (auto word = next_positional()) return word;
    } else if (!m_words.positionals.empty()) {
        const std::string& word = m_words.positionals.front();
        fail(usage_error("no --key, and " + in_quotes(word) + " stands before the --; did you mean -k " +
                         escape_for_display(word.substr(0, 60)) + "?"));
        return std::nullopt;
    }
    const std::string name(m_command.name);
    fail(
        usage_error(m_command.takes_command
                        ? "no --key, the name of what is shared, for example jobthrottle run --key github -r "
                          "80/min -- gh api /user"
                        : "no key, the name of what is shared, for example jobthrottle " + name + " github"));
    return std::nullopt;
}

Key ArgsReader::key() {
    const Key none = *Key::make("none");
    const auto given = m_words.all(Opt::key);
    if (given.size() > 1) {
        fail(usage_error("a second --key (" + in_quotes(given[1]) + "): " + std::string(m_command.name) +
                         " takes one, for example --key " + std::string(row_of(Opt::key).example)));
        return none;
    }
    const auto bytes = given.empty() ? key_word() : std::optional(given.front());
    if (!bytes) return none;
    auto key = Key::make(*bytes);
    if (key) return std::move(key).value();
    fail(usage_error((given.empty() ? "KEY: " : "--key: ") + key.error().message));
    return none;
}

Terms ArgsReader::terms() {
    const auto terms = read_terms(m_words.options);
    if (terms) return *terms;
    fail(terms.error());
    return {};
}

LimitOptions ArgsReader::limit(Duration lock_for) {
    LimitOptions limit;
    const std::optional<std::string> first = has(Opt::key) ? std::nullopt : key_word();
    if (m_fault) return limit;
    auto claims = read_claims(m_words.options, first, lock_for);
    if (!claims) {
        fail(claims.error());
        return limit;
    }
    limit.claims = std::move(claims).value();
    if (has(Opt::max_waiting)) limit.max_waiting = number(Opt::max_waiting, 0, 0, k_most_waiting);
    if (has(Opt::pause_key)) limit.pause_key = pause_key(limit.claims);
    return limit;
}

std::size_t ArgsReader::pause_key(const std::vector<Claim>& claims) {
    const std::string wanted = text(Opt::pause_key);
    std::string keys;
    for (std::size_t i = 0; i < claims.size(); ++i) {
        if (claims[i].key.bytes() == wanted) return i;
        keys += (i == 0 ? "" : ", ") + claims[i].key.shown();
    }
    fail(usage_error("--pause-key " + in_quotes(wanted) + ": want one of the keys given (" + keys +
                     "), for example --pause-key " + claims.front().key.shown()));
    return 0;
}

std::vector<ExitRule> ArgsReader::exit_rules() {
    constexpr int k_most = 255;
    std::vector<ExitRule> rules;
    for (const auto& [id, value] : m_words.options) {
        if (id != Opt::pause_on_exit) continue;
        const auto equals = value.find('=');
        const auto code = parse_whole_number(std::string_view(value).substr(0, equals));
        ExitRule rule;
        bool fits = code && *code >= 1 && *code <= k_most;
        if (fits) rule.code = static_cast<int>(*code);
        if (fits && equals != std::string::npos) {
            const auto delay = parse_duration(std::string_view(value).substr(equals + 1));
            fits = delay.ok();
            if (delay) rule.delay = *delay;
        }
        if (!fits) want(id, value, "an exit code from 1 to 255, with =DURATION or without");
        rules.push_back(rule);
    }
    return rules;
}

}  // namespace jobthrottle
