// SPDX-License-Identifier: MIT
#include "cli/args_rates.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "base/text.hpp"
#include "core/duration.hpp"

namespace jobthrottle {

namespace {

// The words of one rate: --rate, or --allow and --every; and its burst. Borrowed.
struct RateWords {
    const std::string* rate = nullptr;
    const std::string* allow = nullptr;
    const std::string* every = nullptr;
    const std::string* burst = nullptr;
};

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

Result<Rate> rate_in_one_option(const std::string& text) {
    auto rate = parse_rate(text);
    if (!rate) return usage_error("--rate " + rate.error().message + whole_rate_hint(text));
    return rate;
}

Result<Rate> rate_in_two_options(const std::string& allow, const std::string& every) {
    const auto count = parse_count(allow);
    if (!count) return usage_error("--allow " + count.error().message);
    const auto period = parse_duration(every);
    if (!period) return usage_error("--every " + period.error().message);
    auto rate = Rate::make(*count, *period);
    if (!rate) {
        return usage_error("--allow " + in_quotes(allow) + " --every " + in_quotes(every) + ": " +
                           rate.error().message);
    }
    return rate;
}

Result<Rate> with_burst(const Rate& rate, const std::string& burst) {
    const auto count = parse_count(burst);
    if (!count) return usage_error("--burst " + count.error().message);
    auto changed = rate.with_burst(*count);
    if (!changed) return usage_error("--burst " + in_quotes(burst) + ": " + changed.error().message);
    return changed;
}

Result<Rate> rate_of(const RateWords& words) {
    if (words.rate == nullptr && (words.allow == nullptr || words.every == nullptr))
        return usage_error("--allow and --every belong together, for example --allow 80 --every 1m");
    auto rate = words.rate != nullptr ? rate_in_one_option(*words.rate)
                                      : rate_in_two_options(*words.allow, *words.every);
    if (rate && words.burst != nullptr) return with_burst(*rate, *words.burst);
    return rate;
}

// Puts the words of each rate together.
class Gathering {
public:
    Result<void> take(Opt id, const std::string& value) {
        switch (id) {
            case Opt::rate:
                m_rates.push_back({&value});
                m_last = m_rates.size() - 1;
                break;
            case Opt::allow:
                pair_lacking(&RateWords::allow).allow = &value;
                break;
            case Opt::every:
                pair_lacking(&RateWords::every).every = &value;
                break;
            case Opt::burst:
                return take_burst(value);
            default:
                break;
        }
        return {};
    }

    Result<std::vector<Rate>> rates() {
        if (m_early_burst != nullptr && m_rates.empty()) {
            return usage_error("--burst " + in_quotes(*m_early_burst) +
                               " needs a rate, for example --rate 10000/d --burst 500");
        }
        if (m_early_burst != nullptr && (m_rates.size() > 1 || m_rates.front().burst != nullptr)) {
            return usage_error("--burst " + in_quotes(*m_early_burst) +
                               " stands before the first rate: of several rates it belongs to the one before "
                               "it, for example --rate 10/s --burst 5 --rate 500/min");
        }
        if (m_early_burst != nullptr) m_rates.front().burst = m_early_burst;
        std::vector<Rate> rates;
        for (const auto& words : m_rates) {
            const auto rate = rate_of(words);
            if (!rate) return rate.error();
            rates.push_back(*rate);
        }
        return rates;
    }

private:
    RateWords& pair_lacking(const std::string* RateWords::*part) {
        const auto open = std::find_if(m_rates.begin(), m_rates.end(), [part](const RateWords& words) {
            return words.rate == nullptr && words.*part == nullptr;
        });
        m_last = static_cast<std::size_t>(open - m_rates.begin());
        if (open == m_rates.end()) m_rates.emplace_back();
        return m_rates[m_last];
    }

    Result<void> take_burst(const std::string& value) {
        const std::string*& burst = m_rates.empty() ? m_early_burst : m_rates[m_last].burst;
        if (burst != nullptr) {
            return usage_error("a second --burst (" + in_quotes(value) +
                               ") of one rate: want one, for example --rate 10000/d --burst 500");
        }
        burst = &value;
        return {};
    }

    std::vector<RateWords> m_rates;
    std::size_t m_last = 0;  // the rate that a burst belongs to
    const std::string* m_early_burst = nullptr;
};

}  // namespace

Result<std::vector<Rate>> read_rates(const std::vector<Word>& words) {
    Gathering gathering;
    for (const auto& [id, value] : words) {
        const auto taken = gathering.take(id, value);
        if (!taken) return taken.error();
    }
    return gathering.rates();
}

}  // namespace jobthrottle
