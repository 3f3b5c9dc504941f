// SPDX-License-Identifier: MIT
#include "cli/args.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "cli/args_commands.hpp"
#include "cli/args_words.hpp"
#include "cli/help.hpp"

namespace jobthrottle {

namespace {

using Strings = std::vector<std::string>;

// As one would type it in a shell.
std::string shell_word(const std::string& word) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("%+,-./:=@_").find(c) != std::string_view::npos;
    });
    if (plain) return word;
    std::string out = "'";
    for (const char c : word) {
        if (c == '\'') {
            out += "'\\''";
        } else {
            out += c;
        }
    }
    return out + "'";
}

// Where the command begins in words that have no "--": at the first that is neither an option nor its value.
std::size_t begin_of_command(const CommandRow& command, const Strings& words) {
    std::size_t at = 0;
    while (at < words.size()) {
        const std::string& word = words[at];
        if (word.size() < 2 || word.front() != '-') return at;
        at += wants_value(command, word) ? std::size_t{2} : std::size_t{1};
    }
    return words.size();
}

Error without_dashes(const CommandRow& command, const Strings& words) {
    constexpr std::size_t k_shown = 100;
    const std::size_t begin = begin_of_command(command, words);
    if (begin >= words.size()) {
        return usage_error(
            "no command to run: put it after --, for example jobthrottle run -k github -r 80/min -- gh api "
            "/user");
    }
    std::string text = "jobthrottle " + std::string(command.name);
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i == begin) text += " --";
        text += " " + shell_word(words[i]);
        if (i >= begin && text.size() > k_shown && i + 1 < words.size()) {
            text += " ...";
            break;
        }
    }
    return usage_error("put -- before the command: " + text);
}

Error unknown_command(const std::string& word) {
    const auto later = later_commands();
    if (std::find(later.begin(), later.end(), word) != later.end())
        return usage_error(word + ": this version does not have it");
    for (const auto& [typed, here] : other_command_names()) {
        if (word == typed)
            return usage_error("there is no command " + in_quotes(word) + "; did you mean " +
                               std::string(here) + "?");
    }
    if (word.size() > 1 && word.front() == '-') {
        return usage_error(
            "the command comes first: " + in_quotes(word) +
            " stands before it; for example jobthrottle run -k github -r 80/min -- gh api /user");
    }
    Strings names{"help"};
    for (const auto& command : command_table())
        names.emplace_back(command.name);
    const auto nearest = nearest_word(word, names);
    return usage_error("there is no command " + in_quotes(word) +
                       (nearest ? "; did you mean " + *nearest + "?" : "; see jobthrottle --help"));
}

Result<Options> help_for(const Strings& words, int width) {
    if (words.size() < 2) return Options{ShowText{program_help(width)}};
    const CommandRow* command = find_command(words[1]);
    if (command == nullptr) return unknown_command(words[1]);
    return Options{ShowText{command_help(*command, width)}};
}

Result<Options> parse_command(const CommandRow& command, const Strings& own, bool has_dashes,
                              const Strings& after, const Surroundings& surroundings) {
    // Without the "--" it is not known which words are ours, unless one of ours is wrong.
    const std::size_t ours =
        command.takes_command && !has_dashes ? begin_of_command(command, own) : own.size();
    auto words = read_words(
        command, Strings(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(std::min(ours, own.size()))));
    if (!words) return words.error();
    if (words->has(Opt::help)) return Options{ShowText{command_help(command, surroundings.width)}};
    if (command.takes_command && !has_dashes) return without_dashes(command, own);
    if (command.takes_command && after.empty()) return without_dashes(command, {});
    if (!command.takes_command)
        words->positionals.insert(words->positionals.end(), after.begin(), after.end());

    ArgsReader reader(command, std::move(words).value(), surroundings);
    Options options = builder_of(command.name)(reader, after);
    reader.no_more_positionals();
    if (reader.fault()) return *reader.fault();
    return options;
}

}  // namespace

Result<Options> parse_args(const Strings& words, const Surroundings& surroundings) {
    if (words.empty()) {
        return usage_error(
            "no command given, for example jobthrottle run -k github -r 80/min -- gh api /user; see "
            "jobthrottle "
            "--help");
    }
    const std::string& first = words.front();
    if (first == "--version") return Options{ShowText{version_text()}};
    if (first == "--help" || first == "-h" || first == "help") return help_for(words, surroundings.width);
    const CommandRow* command = find_command(first);
    if (command == nullptr) return unknown_command(first);
    const auto dashes = std::find(words.begin() + 1, words.end(), "--");
    const Strings own(words.begin() + 1, dashes);
    const Strings after(dashes == words.end() ? dashes : dashes + 1, words.end());
    return parse_command(*command, own, dashes != words.end(), after, surroundings);
}

}  // namespace jobthrottle
