// SPDX-License-Identifier: MIT
#include "cli/args_reader.hpp"

#include <algorithm>
#include <numeric>

#include "base/text.hpp"

namespace jobthrottle {

namespace {

bool is_setting(std::string_view option) {
    const auto& names = setting_names();
    return std::any_of(names.begin(), names.end(),
                       [&](const SettingNames& setting) { return setting.option == option; });
}

// "; for half a start a second say 1/2s" and the like: what a count with a fraction comes to in whole starts.
std::string whole_rate_hint(const std::string& text) {
    constexpr std::size_t k_most_digits = 6;
    const auto dot = text.find('.');
    const auto slash = text.find('/');
    if (dot == std::string::npos || slash == std::string::npos || dot > slash) return "";
    const std::string fraction = text.substr(dot + 1, slash - dot - 1);
    const auto whole = dot == 0 ? std::optional<std::int64_t>{0} : parse_whole_number(text.substr(0, dot));
    const auto parts = parse_whole_number(fraction);
    if (!whole || !parts || fraction.size() > k_most_digits || *whole > 1'000'000) return "";
    std::int64_t scale = 1;
    for (std::size_t digit = 0; digit < fraction.size(); ++digit)
        scale *= 10;
    std::int64_t count = *whole * scale + *parts;
    const std::int64_t common = std::max<std::int64_t>(std::gcd(count, scale), 1);
    count /= common;
    const std::string period = text.substr(slash + 1);
    const bool is_unit = unit_length(period) != Duration::zero();
    const auto length = parse_duration(is_unit ? "1" + period : period);
    if (!length || *length > k_longest_duration / (scale / common)) return "";
    const std::string rate =
        std::to_string(count) + "/" + format_duration_exactly(*length * (scale / common));
    return parse_rate(rate) ? "; did you mean " + rate + "?" : "";
}

}  // namespace

ArgsReader::ArgsReader(const CommandRow& command, Words words, const Surroundings& surroundings)
    : m_command(command), m_words(std::move(words)), m_surroundings(surroundings) {}

void ArgsReader::fail(Error error) {
    if (!m_fault) m_fault = std::move(error);
}

void ArgsReader::want(Opt id, const std::string& value, const std::string& wanted) {
    const OptionRow& row = row_of(id);
    const std::string name(row.name);
    fail(usage_error(name + " " + in_quotes(value) + ": want " + wanted + ", for example " + name + " " +
                     std::string(row.example)));
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
        if (is_setting(row.name)) given.push_back({std::string(row.name), value});
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

Key ArgsReader::key() {
    const std::string* option = m_words.last(Opt::key);
    std::optional<std::string> bytes;
    if (option != nullptr) {
        bytes = *option;
    } else if (!m_command.takes_command) {
        bytes = next_positional();
    }
    if (!bytes && m_command.takes_command && !m_words.positionals.empty()) {
        const std::string& word = m_words.positionals.front();
        fail(usage_error("no --key, and " + in_quotes(word) + " stands before the --; did you mean -k " +
                         escape_for_display(word.substr(0, 60)) + "?"));
        return *Key::make("none");
    }
    if (!bytes) {
        const std::string name(m_command.name);
        fail(usage_error(
            m_command.takes_command
                ? "no --key, the name of what is shared, for example jobthrottle run --key github -r "
                  "80/min -- gh api /user"
                : "no key, the name of what is shared, for example jobthrottle " + name + " github"));
        return *Key::make("none");
    }
    auto key = Key::make(*bytes);
    if (key) return std::move(key).value();
    fail(usage_error((option != nullptr ? "--key: " : "KEY: ") + key.error().message));
    return *Key::make("none");
}

std::optional<Rate> ArgsReader::rate_in_two_options() {
    const std::string* allow = m_words.last(Opt::allow);
    const std::string* every = m_words.last(Opt::every);
    if (allow == nullptr && every == nullptr) return std::nullopt;
    if (has(Opt::rate)) {
        fail(usage_error(
            "--rate and --allow with --every say the same: give one of them, for example --rate 8/s"));
        return std::nullopt;
    }
    if (allow == nullptr || every == nullptr) {
        fail(usage_error("--allow and --every belong together, for example --allow 80 --every 1m"));
        return std::nullopt;
    }
    const auto count = parse_count(*allow);
    if (!count) {
        fail(usage_error("--allow " + count.error().message));
        return std::nullopt;
    }
    const auto period = parse_duration(*every);
    if (!period) {
        fail(usage_error("--every " + period.error().message));
        return std::nullopt;
    }
    const auto rate = Rate::make(*count, *period);
    if (rate) return *rate;
    fail(usage_error("--allow " + in_quotes(*allow) + " --every " + in_quotes(*every) + ": " +
                     rate.error().message));
    return std::nullopt;
}

std::optional<Rate> ArgsReader::rate() {
    std::optional<Rate> rate = rate_in_two_options();
    if (const std::string* given = m_words.last(Opt::rate)) {
        const auto parsed = parse_rate(*given);
        if (parsed) rate = *parsed;
        if (!parsed) fail(usage_error("--rate " + parsed.error().message + whole_rate_hint(*given)));
    }
    const std::string* burst = m_words.last(Opt::burst);
    if (burst == nullptr || m_fault) return rate;
    const auto count = parse_count(*burst);
    if (!count) {
        fail(usage_error("--burst " + count.error().message));
    } else if (!rate) {
        fail(usage_error("--burst " + in_quotes(*burst) +
                         " needs a rate, for example --rate 10000/d --burst 500"));
    } else if (const auto with_burst = rate->with_burst(*count); with_burst) {
        return *with_burst;
    } else {
        fail(usage_error("--burst " + in_quotes(*burst) + ": " + with_burst.error().message));
    }
    return rate;
}

LimitOptions ArgsReader::limit() {
    LimitOptions limit{key(), rate(), has(Opt::pause_only), has(Opt::override_registered)};
    if (limit.pause_only && limit.rate) {
        fail(usage_error("--pause-only means no rate at all: leave --rate " + limit.rate->text() +
                         " away, or " + "--pause-only"));
    }
    if (limit.override_registered && !limit.rate && !limit.pause_only) {
        fail(usage_error("--override needs numbers to override with, for example --rate 8/s --override"));
    }
    return limit;
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
