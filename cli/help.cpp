// SPDX-License-Identifier: MIT
#include "cli/help.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "config/settings.hpp"

namespace jobthrottle {

namespace {

constexpr int k_least_width = 20;
constexpr std::size_t k_roomy = 60;  // below, what is said of an option stands under it

std::size_t columns_of(int width) {
    return static_cast<std::size_t>(std::max(width, k_least_width));
}

// Words of `text` from column `indent` on; what is before it on the first line is already there.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
    std::string out;
    std::size_t column = indent;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        if (column > indent && column + 1 + word.size() > width) {
            out += "\n" + std::string(indent, ' ');
            column = indent;
        } else if (column > indent) {
            out += ' ';
            ++column;
        }
        out += word;
        column += word.size();
        text.remove_prefix(word.size() == text.size() ? word.size() : word.size() + 1);
    }
    return out + "\n";
}

std::string option_help(const OptionRow& row, std::size_t width) {
    const std::size_t column = width < k_roomy ? 6 : 30;
    std::string left = "  ";
    left += row.letter.empty() ? "    " : std::string(row.letter) + ", ";
    left += row.name;
    if (!row.value.empty()) left += " " + std::string(row.value);
    const bool own_line = left.size() + 2 > column;
    left += own_line ? "\n" + std::string(column, ' ') : std::string(column - left.size(), ' ');
    return left + wrapped(row.help, column, width);
}

std::string_view title_of(Group group) {
    switch (group) {
        case Group::limit:
            return "Limit";
        case Group::waiting:
            return "Waiting";
        case Group::repeating:
            return "Refusals and tries";
        case Group::what:
            return "This command";
        case Group::store:
            return "Store";
        case Group::other:
            break;
    }
    return "Other";
}

}  // namespace

std::string program_help(int columns) {
    const std::size_t width = columns_of(columns);
    std::string text =
        wrapped("Start commands no faster than their provider allows, across processes and machines.", 0,
                width) +
        "\n"
        "  jobthrottle run -k github -r 80/min -- gh api /user\n"
        "                                    at most 80 a minute, whoever runs it\n"
        "  jobthrottle run -k db -j 2 -- ./etl.sh\n"
        "                                    at most 2 at a time (like flock, sem)\n"
        "  jobthrottle run -k x -j 1 -n -E 0 -- ./sync\n"
        "                                    skip when it is running (flock -n)\n"
        "  jobthrottle admit api -r 5/s && curl ...\n"
        "                                    the gate alone, for scripts\n"
        "  jobthrottle inspect github        why is my job waiting?\n"
        "  jobthrottle pause github 10m      hold everybody;\n"
        "  jobthrottle resume github         let them go\n"
        "\n"
        "Commands  ";
    std::string names;
    for (const auto& command : command_table())
        names += std::string(command.name) + " ";
    text += wrapped(names + "help", 10, width);
    text += "Exit      " + wrapped(
                               "the command's own; 75 throttled; 64 usage; 69 store; 78 config; 125 "
                               "jobthrottle itself failed; 126, 127 the command cannot be run",
                               10, width);
    text += "\n" + wrapped(
                       "Limits are shared on this machine; share them wider with "
                       "JOBTHROTTLE_STORE=redis://host. jobthrottle COMMAND --help tells its options.",
                       0, width);
    return text;
}

std::string command_help(const CommandRow& command, int columns) {
    const std::size_t width = columns_of(columns);
    const std::string start = "Usage: jobthrottle " + std::string(command.name) + " ";
    std::string text = width < k_roomy ? wrapped(start + std::string(command.usage), 0, width)
                                       : start + wrapped(command.usage, start.size(), width);
    text += "\n" + wrapped(command.about, 0, width);
    if (!command.examples.empty()) text += "\n" + std::string(command.examples);
    if (!command.more.empty()) text += "\n" + wrapped(command.more, 0, width);
    for (const Group group :
         {Group::limit, Group::waiting, Group::repeating, Group::what, Group::store, Group::other}) {
        std::string rows;
        for (const Opt id : command.options) {
            if (row_of(id).group == group) rows += option_help(row_of(id), width);
        }
        if (!rows.empty()) text += "\n" + std::string(title_of(group)) + "\n" + rows;
    }
    std::string variables;
    for (const auto& [option, variable] : setting_names()) {
        const bool is_taken = option.empty() || find_option(command, option) != nullptr;
        if (is_taken) variables += (variables.empty() ? "" : " ") + std::string(variable);
    }
    return text + "\n" + wrapped("Environment (an option wins over its variable)", 0, width) + "  " +
           wrapped(variables, 2, width);
}

std::string version_text() {
    return "jobthrottle " JT_VERSION "\n";
}

}  // namespace jobthrottle
