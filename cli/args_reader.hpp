// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "cli/args_words.hpp"
#include "cli/options.hpp"
#include "core/duration.hpp"
#include "core/when.hpp"

namespace jobthrottle {

// Where the words are understood: what is not in them.
struct Surroundings {
    Environment environment;
    WallTime now;
    ZoneOffset zone;
    int width = 80;  // columns that a help text may take
};

// Turns words into checked values. The first fault is kept, names the option and shows a right value; after
// it every call gives something harmless, so that a command asks for all it wants and looks at fault() once.
class ArgsReader {
public:
    ArgsReader(const CommandRow& command, Words words, const Surroundings& surroundings);

    bool has(Opt id) const { return m_words.has(id); }
    std::string text(Opt id, const std::string& fallback = {}) const;
    Duration duration(Opt id, Duration fallback, Duration least = {}, Duration most = k_longest_duration);
    int number(Opt id, int fallback, int least, int most);
    template <typename T>
    T one_of(Opt id, const std::vector<std::pair<std::string, T>>& words, T fallback) {
        const std::string* given = m_words.last(id);
        if (given == nullptr) return fallback;
        for (const auto& [word, value] : words) {
            if (word == *given) return value;
        }
        want(id, *given, list_of(words));
        return fallback;
    }

    Common common();
    Key key();      // the only --key, or the next positional
    Terms terms();  // rates and concurrency of one key; may be empty
    // Several keys, or the next positional. `lock_for` where none is given.
    LimitOptions limit(Duration lock_for);
    std::optional<std::string> next_positional();
    void no_more_positionals();
    std::vector<ExitRule> exit_rules();

    const Surroundings& surroundings() const { return m_surroundings; }
    // The option's value is wrong: "--tries 'x': want WANTED, for example --tries 3".
    void want(Opt id, const std::string& value, const std::string& wanted);
    void fail(Error);
    const std::optional<Error>& fault() const { return m_fault; }

private:
    template <typename T>
    static std::string list_of(const std::vector<std::pair<std::string, T>>& words) {
        std::string list;
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (i > 0) list += i + 1 == words.size() ? " or " : ", ";
            list += words[i].first;
        }
        return list;
    }
    std::optional<std::string> key_word();
    std::size_t pause_key(const std::vector<Claim>& claims);

    const CommandRow& m_command;
    Words m_words;
    const Surroundings& m_surroundings;
    std::size_t m_positional = 0;
    std::optional<Error> m_fault;
};

}  // namespace jobthrottle
