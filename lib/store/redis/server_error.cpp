// SPDX-License-Identifier: MIT
#include "store/redis/server_error.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace jobthrottle {

namespace {

constexpr std::size_t k_most_shown = 160;

struct Meaning {
    std::string_view code;
    ErrorKind kind;
    std::string_view words;  // empty: the server's own
};

constexpr std::array k_meanings = {
    Meaning{"LOADING", ErrorKind::unavailable, "it is starting: LOADING"},
    Meaning{"MASTERDOWN", ErrorKind::unavailable, "a replica without its master: MASTERDOWN"},
    Meaning{"CLUSTERDOWN", ErrorKind::unavailable, "its cluster is down: CLUSTERDOWN"},
    Meaning{"TRYAGAIN", ErrorKind::unavailable, "it is moving keys: TRYAGAIN"},
    Meaning{"READONLY", ErrorKind::unavailable, "a replica, or failing over: READONLY"},
    Meaning{"NOREPLICAS", ErrorKind::unavailable, "its replicas are away: NOREPLICAS"},
    Meaning{"BUSY", ErrorKind::unavailable, "it is running another script: BUSY"},
    Meaning{"NOAUTH", ErrorKind::refused, "it wants a password; set JOBTHROTTLE_PASSWORD"},
    Meaning{"WRONGPASS", ErrorKind::refused, "it does not take this user and password"},
    Meaning{"OOM", ErrorKind::refused, "its memory is full: OOM"},
    Meaning{"MISCONF", ErrorKind::refused, "it takes no writes, since it cannot save to its disk: MISCONF"},
    Meaning{"MOVED", ErrorKind::refused, "it is part of a cluster; redis+cluster:// is not in this version"},
    Meaning{"ASK", ErrorKind::refused, "it is part of a cluster; redis+cluster:// is not in this version"},
    Meaning{"WRONGTYPE", ErrorKind::refused,
            "a record under this prefix is of a wrong type; another application uses it, so choose another "
            "--prefix"},
    Meaning{"NOPERM", ErrorKind::refused, ""},
};

// What a script is told where its user lacks a right: there is no code for it, and Redis 7.2 changed the
// words.
constexpr std::string_view k_no_right_in_script =
    "NOPERM this user may not run every command that the scripts need (doc/state.md has the list), or not "
    "use the keys under the prefix";
constexpr std::array<std::string_view, 2> k_lacks_right = {"ERR The user executing the script can't ",
                                                           "ERR ACL failure in script: "};

bool lacks_right(std::string_view said) {
    return std::any_of(k_lacks_right.begin(), k_lacks_right.end(),
                       [said](std::string_view start) { return said.substr(0, start.size()) == start; });
}

// What the command of a script said, without the description of the script that Redis puts around it.
std::string_view without_script(std::string_view text) {
    constexpr std::string_view k_in_script = "@user_script";
    constexpr std::string_view k_behind = " script: ";
    const bool old_form =
        text.substr(0, 24) == "ERR Error running script" || text.substr(0, k_in_script.size()) == k_in_script;
    if (old_form) {  // "...@user_script:12: @user_script: 12: -OOM command not allowed"
        const auto last = text.rfind(k_in_script);
        if (last == std::string_view::npos) return text;
        const auto word = text.find_first_not_of(": 0123456789-", last + k_in_script.size());
        text.remove_prefix(std::min(word, text.size()));
    } else if (text.find(", on @user_script:") != std::string_view::npos) {
        text = text.substr(0, text.rfind(k_behind));
    }
    return text;
}

std::string without(std::string text, std::string_view secret) {
    if (secret.empty()) return text;
    for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at + 3))
        text.replace(at, secret.size(), "***");
    return text;
}

}  // namespace

std::string_view error_code(std::string_view text) {
    text = without_script(text);
    if (lacks_right(text)) return "NOPERM";
    return text.substr(0, text.find(' '));
}

Error error_of_reply(std::string_view text, std::string_view secret) {
    constexpr std::string_view k_too_many = "ERR max number of clients";
    if (text.substr(0, k_too_many.size()) == k_too_many) {
        return unavailable_error("it has too many clients");
    }
    const std::string_view code = error_code(text);
    const std::string_view said = without_script(text);
    std::string words = without(std::string(said.empty() ? text : said), secret);
    if (words.size() > k_most_shown) words = words.substr(0, k_most_shown) + "...";
    words = escape_for_display(words);
    for (const auto& meaning : k_meanings) {
        if (meaning.code != code) continue;
        if (!meaning.words.empty()) words = meaning.words;
        if (lacks_right(said)) words = k_no_right_in_script;
        return {meaning.kind, words};
    }
    return refused_error("it says: " + words);
}

bool is_failover(std::string_view text) {
    const std::string_view code = error_code(text);
    return code == "READONLY" || code == "MASTERDOWN";
}

}  // namespace jobthrottle
