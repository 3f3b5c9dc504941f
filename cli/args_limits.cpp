// SPDX-License-Identifier: MIT
#include "cli/args_limits.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "cli/args_rates.hpp"
#include "core/attempts.hpp"
#include "core/duration.hpp"
#include "core/start_log.hpp"

namespace jobthrottle {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t k_most_keys = 16;

bool is_limit_option(Opt id) {
    switch (id) {
        case Opt::rate:
        case Opt::allow:
        case Opt::every:
        case Opt::burst:
        case Opt::concurrency:
        case Opt::lock_for:
        case Opt::cost:
        case Opt::count:
        case Opt::pause_only:
        case Opt::override_registered:
            return true;
        default:
            return false;
    }
}

// One key and the limit options that belong to it.
struct KeyWords {
    std::string key;
    std::vector<Word> words;
};

Result<std::vector<KeyWords>> by_key(const std::vector<Word>& words,
                                     const std::optional<std::string>& first) {
    std::vector<KeyWords> keys;
    if (first) keys.push_back({*first, {}});
    for (const auto& [id, value] : words) {
        if (id == Opt::key) keys.push_back({value, {}});
    }
    const bool several = keys.size() > 1;
    std::size_t seen = 0;
    for (const auto& [id, value] : words) {
        if (id == Opt::key) ++seen;
        if (!is_limit_option(id)) continue;
        if (several && seen == 0) {
            const std::string option(row_of(id).name);
            return usage_error(option + (value.empty() ? "" : " " + in_quotes(value)) +
                               " stands before the first --key: with several keys it belongs to the --key "
                               "before it, for example -k a -r 5/s -k b -r 80/min");
        }
        keys[several ? seen - 1 : 0].words.emplace_back(id, value);
    }
    return keys;
}

// Nothing, or the option's only value.
Result<const std::string*> only_value(const KeyWords& key, Opt id) {
    const std::string* found = nullptr;
    for (const auto& [option, value] : key.words) {
        if (option != id) continue;
        if (found != nullptr) {
            return usage_error("a second " + std::string(row_of(id).name) + " (" + in_quotes(value) +
                               ") for key " + in_quotes(key.key) + ": it takes one");
        }
        found = &value;
    }
    return found;
}

bool has(const KeyWords& key, Opt id) {
    return std::any_of(key.words.begin(), key.words.end(),
                       [id](const Word& word) { return word.first == id; });
}

Result<std::optional<std::int64_t>> count_of(const KeyWords& key, Opt id, std::int64_t most) {
    const auto given = only_value(key, id);
    if (!given) return given.error();
    if (*given == nullptr) return std::optional<std::int64_t>{};
    const auto count = parse_count(**given);
    if (count && *count <= most) return std::optional(*count);
    return wrong_value(id, **given, "a whole number from 1 to " + std::to_string(most));
}

Result<Terms> terms_of(const KeyWords& key, const std::vector<Rate>& rates) {
    const auto concurrency = count_of(key, Opt::concurrency, Terms::k_most_at_once);
    if (!concurrency) return concurrency.error();
    auto terms = Terms::make(rates, *concurrency);
    if (!terms)
        return usage_error("--rate: " + terms.error().message + ", for example --rate 10/s --rate 500/min");
    return terms;
}

Result<bool> counts_successes(const KeyWords& key) {
    const auto given = only_value(key, Opt::count);
    if (!given) return given.error();
    if (*given == nullptr || **given == "starts") return false;
    if (**given == "successes") return true;
    return wrong_value(Opt::count, **given, "starts or successes");
}

// The decision makes plain windows of the rates: how the starts are spread in them is nothing to those who
// count successes. Up to k_log_exact the log of a window is exact, which that needs.
Result<void> check_successes(const KeyWords& key, const std::vector<Rate>& rates) {
    for (const Rate& rate : rates) {
        if (rate.burst() > 1 || has(key, Opt::burst)) {
            return usage_error("--count successes takes no burst (" + rate.text() +
                               "): all of the window may start at once, for example --rate 10/h --count "
                               "successes");
        }
        if (rate.allow() > k_log_exact) {
            return usage_error("--count successes with --rate " + rate.text() + ": want at most " +
                               std::to_string(k_log_exact) +
                               " starts in a period, for example --rate 2000/h");
        }
    }
    return {};
}

// A job that costs more than a limit ever allows at once could never start.
Result<void> check_cost(std::int64_t cost, const std::string& given, const Terms& terms) {
    for (const Rate& rate : terms.rates()) {
        const std::int64_t most = rate.most_at_once();
        if (cost <= most) continue;
        return usage_error("--cost " + in_quotes(given) + ": " + rate.text() + " never allows more than " +
                           std::to_string(most) + " at once; want 1 to " + std::to_string(most) +
                           ", for example --cost " + std::to_string(most));
    }
    return {};
}

Result<void> take_cost(const KeyWords& key, Claim& claim) {
    const auto given = only_value(key, Opt::cost);
    if (!given) return given.error();
    if (*given == nullptr) return {};
    const auto cost = count_of(key, Opt::cost, k_most_cost);
    if (!cost) return cost.error();
    claim.cost = cost->value_or(1);
    claim.settles = true;
    return check_cost(claim.cost, **given, claim.terms);
}

Result<void> take_lock_for(const KeyWords& key, Claim& claim) {
    const auto given = only_value(key, Opt::lock_for);
    if (!given) return given.error();
    if (*given == nullptr) return {};
    const auto length = parse_duration(**given);
    if (!length || *length < 1s) return wrong_value(Opt::lock_for, **given, "a duration from 1s to 366d");
    claim.lock_for = *length;
    return {};
}

Result<void> check_together(const KeyWords& key, const Claim& claim) {
    if (claim.pause_only && !claim.terms.empty()) {
        return usage_error("--pause-only means no limit at all: leave " + claim.terms.text() +
                           " away, or --pause-only");
    }
    if (claim.override_registered && claim.terms.empty() && !claim.pause_only) {
        return usage_error(
            "--override needs numbers to override with, for example --rate 8/s --override (key " +
            in_quotes(key.key) + ")");
    }
    if (claim.count_successes && claim.settles) {
        return usage_error(
            "--cost and --count successes say two things of what a start counts as: give one of them, for "
            "example --rate 10/h --count successes");
    }
    return {};
}

Result<Claim> claim_of(const KeyWords& words, bool by_option, Duration lock_for) {
    auto key = Key::make(words.key);
    if (!key) return usage_error((by_option ? "--key: " : "KEY: ") + key.error().message);
    Claim claim(std::move(key).value());
    claim.pause_only = has(words, Opt::pause_only);
    claim.override_registered = has(words, Opt::override_registered);
    claim.lock_for = lock_for;
    const auto successes = counts_successes(words);
    if (!successes) return successes.error();
    claim.count_successes = *successes;
    const auto rates = read_rates(words.words);
    if (!rates) return rates.error();
    if (*successes) {
        if (const auto right = check_successes(words, *rates); !right) return right.error();
    }
    const auto terms = terms_of(words, *rates);
    if (!terms) return terms.error();
    claim.terms = *terms;
    for (const auto& taken :
         {take_lock_for(words, claim), take_cost(words, claim), check_together(words, claim)}) {
        if (!taken) return taken.error();
    }
    return claim;
}

}  // namespace

const Claim& LimitOptions::of(const Key& key) const {
    const auto found =
        std::find_if(claims.begin(), claims.end(), [&](const Claim& claim) { return claim.key == key; });
    return found == claims.end() ? claims.front() : *found;
}

Result<std::vector<Claim>> read_claims(const std::vector<Word>& words,
                                       const std::optional<std::string>& first, Duration lock_for) {
    const auto keys = by_key(words, first);
    if (!keys) return keys.error();
    if (keys->size() > k_most_keys) {
        return usage_error(std::to_string(keys->size()) + " keys for one job: want at most " +
                           std::to_string(k_most_keys) + ", for example -k a -r 5/s -k b -r 80/min");
    }
    std::vector<Claim> claims;
    for (const auto& key : *keys) {
        auto claim = claim_of(key, !first, lock_for);
        if (!claim) return claim.error();
        const bool twice = std::any_of(claims.begin(), claims.end(),
                                       [&](const Claim& other) { return other.key == claim->key; });
        if (twice) {
            return usage_error(
                "--key " + in_quotes(key.key) +
                " is given twice: put its limits behind one, for example -k a -r 10/s -r 500/min");
        }
        claims.push_back(std::move(claim).value());
    }
    return claims;
}

Result<Terms> read_terms(const std::vector<Word>& words) {
    const auto rates = read_rates(words);
    if (!rates) return rates.error();
    KeyWords all{"", {}};
    for (const auto& word : words) {
        if (word.first == Opt::key) all.key = word.second;
        if (is_limit_option(word.first)) all.words.push_back(word);
    }
    return terms_of(all, *rates);
}

}  // namespace jobthrottle
