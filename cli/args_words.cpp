// SPDX-License-Identifier: MIT
#include "cli/args_words.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "core/rate.hpp"

namespace jobthrottle {

namespace {

bool looks_like_option(const std::string& word) {
    return word.size() > 1 && word.front() == '-';
}

// "--rate=8/s" in two words, for an empty value would be lost otherwise.
Result<std::vector<std::string>> without_equals(const CommandRow& command,
                                                const std::vector<std::string>& own) {
    std::vector<std::string> words;
    bool is_value = false;
    for (const auto& word : own) {
        const auto equals = word.find('=');
        const OptionRow* row = find_option(command, std::string_view(word).substr(0, equals));
        const bool joined =
            !is_value && word.rfind("--", 0) == 0 && equals != std::string::npos && row != nullptr;
        if (!joined) {
            words.push_back(word);
            is_value = !is_value && wants_value(command, word);
            continue;
        }
        if (row->value.empty()) return usage_error(std::string(row->name) + " takes no value");
        words.emplace_back(row->name);
        words.push_back(word.substr(equals + 1));
    }
    return words;
}

// `value` is what follows the option.
Error not_in_this_version(const LaterRow& later, const std::string& value) {
    const std::string name(later.name);
    if (later.name == "--limit" && parse_rate(value)) {
        return usage_error(
            "--limit " + in_quotes(value) +
            " looks like a rate; --limit takes a name from the configuration (github, openai), "
            "which this version does not have. Did you mean --rate " +
            escape_for_display(value) + "?");
    }
    std::string text = name + ": this version does not have it";
    if (!later.instead.empty()) text += "; " + std::string(later.instead);
    return usage_error(text);
}

Error unknown_option(const CommandRow& command, const std::vector<std::string>& rest, std::size_t at) {
    const std::string name = rest[at].substr(0, rest[at].find('='));
    const std::string value = name.size() < rest[at].size() ? rest[at].substr(name.size() + 1)
                              : at + 1 < rest.size()        ? rest[at + 1]
                                                            : "";
    const bool is_long = name.rfind("--", 0) == 0;
    for (const auto& later : later_options()) {
        if (is_long ? name == later.name : name.substr(0, 2) == later.letter)
            return not_in_this_version(later, value);
    }
    for (const auto& [typed, here] : other_option_names()) {
        if (name == typed && find_option(command, here) != nullptr)
            return usage_error("there is no option " + in_quotes(name) + "; did you mean " +
                               std::string(here) + "?");
    }
    std::vector<std::string> names;
    for (const Opt id : command.options)
        names.emplace_back(row_of(id).name);
    const auto nearest = is_long ? nearest_word(name, names) : std::nullopt;
    return usage_error("there is no option " + in_quotes(name) + " of " + std::string(command.name) +
                       (nearest ? "; did you mean " + *nearest + "?"
                                : "; see jobthrottle " + std::string(command.name) + " --help"));
}

const OptionRow* row_that_wants(const CommandRow& command, const std::string& word) {
    const OptionRow* row = find_option(command, word);
    return row != nullptr ? row : find_option(command, std::string("-") + word.back());
}

Error option_in_place_of_value(const OptionRow& wanting, const std::string& value) {
    const std::string name(wanting.name);
    return usage_error(name + " needs a value (" + in_quotes(value) + " stands in its place), for example " +
                       name + " " + std::string(wanting.example) + ", or " + name + "=" +
                       escape_for_display(value.substr(0, 60)) + " where that is meant");
}

// A value that is spelt like an option of the command has to be joined by "=".
std::optional<Error> option_as_value(const CommandRow& command, const std::vector<std::string>& words) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        if (!wants_value(command, words[i])) continue;
        const std::string& value = words[i + 1];
        const bool is_long = value.rfind("--", 0) == 0;
        if (find_option(command, is_long ? value.substr(0, value.find('=')) : value) != nullptr)
            return option_in_place_of_value(*row_that_wants(command, words[i]), value);
        ++i;
    }
    return std::nullopt;
}

// Only the last word can lack its value: every other has a word behind it.
Error missing_value(const CommandRow& command, const std::vector<std::string>& words) {
    const std::string& last = words.back();
    const OptionRow* row = row_that_wants(command, last);
    if (row == nullptr) return usage_error(in_quotes(last) + " needs a value");
    const std::string name(row->name);
    return usage_error(name + " needs a value, for example " + name + " " + std::string(row->example));
}

// The one place that knows CLI11: it walks the words, the table says what they are.
class Walk {
public:
    explicit Walk(const CommandRow& command) {
        m_app.set_help_flag();
        m_app.allow_extras();
        for (const Opt id : command.options)
            add(row_of(id));
    }

    void over(std::vector<std::string> words) {
        std::reverse(words.begin(), words.end());
        m_app.parse(std::move(words));
        // In the order in which they were typed, and as: a callback gets "{}", the mark of an empty list
        // since CLI11 2.4, as two values.
        std::map<const CLI::Option*, std::size_t> taken;
        for (const CLI::Option* option : m_app.parse_order()) {
            const OptionRow& row = *m_rows.at(option);
            const std::size_t at = taken[option]++;
            m_words.options.emplace_back(row.id, row.value.empty() ? "" : option->results().at(at));
        }
    }
    std::vector<std::string> rest() const { return m_app.remaining(); }
    Words& words() { return m_words; }

private:
    void add(const OptionRow& row) {
        std::string names(row.letter);
        if (!names.empty()) names += ",";
        names += row.name;
        CLI::Option* option = row.value.empty() ? m_app.add_flag(names) : m_app.add_option(names);
        if (!row.value.empty()) option->expected(1);
        option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
        m_rows.emplace(option, &row);
    }

    CLI::App m_app;
    std::map<const CLI::Option*, const OptionRow*> m_rows;  // of m_app
    Words m_words;
};

}  // namespace

std::string in_quotes(std::string_view text) {
    return "'" + escape_for_display(text.substr(0, 60)) + "'";
}

Error wrong_value(Opt id, std::string_view value, const std::string& wanted) {
    const OptionRow& row = row_of(id);
    const std::string name(row.name);
    return usage_error(name + " " + in_quotes(value) + ": want " + wanted + ", for example " + name + " " +
                       std::string(row.example));
}

bool wants_value(const CommandRow& command, const std::string& word) {
    if (word.rfind("--", 0) == 0) {
        const OptionRow* row = find_option(command, word);
        return row != nullptr && !row->value.empty();
    }
    if (!looks_like_option(word)) return false;
    for (std::size_t i = 1; i < word.size(); ++i) {
        const OptionRow* row = find_option(command, std::string("-") + word[i]);
        if (row == nullptr) return false;
        if (!row->value.empty()) return i + 1 == word.size();
    }
    return false;
}

bool Words::has(Opt id) const {
    return last(id) != nullptr;
}

const std::string* Words::last(Opt id) const {
    const auto found = std::find_if(options.rbegin(), options.rend(),
                                    [id](const auto& option) { return option.first == id; });
    return found == options.rend() ? nullptr : &found->second;
}

std::vector<std::string> Words::all(Opt id) const {
    std::vector<std::string> values;
    for (const auto& [option, value] : options) {
        if (option == id) values.push_back(value);
    }
    return values;
}

Result<Words> read_words(const CommandRow& command, const std::vector<std::string>& own) {
    if (auto fault = option_as_value(command, own)) return *std::move(fault);
    const auto words = without_equals(command, own);
    if (!words) return words.error();
    Walk walk(command);
    try {
        walk.over(*words);
    } catch (const CLI::Error&) {
        return missing_value(command, *words);
    }
    const std::vector<std::string> rest = walk.rest();
    const auto option = std::find_if(rest.begin(), rest.end(), looks_like_option);
    if (option != rest.end()) {
        return unknown_option(command, rest, static_cast<std::size_t>(option - rest.begin()));
    }
    walk.words().positionals = rest;
    return std::move(walk.words());
}

}  // namespace jobthrottle
