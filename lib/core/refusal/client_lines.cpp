// SPDX-License-Identifier: MIT
#include "core/refusal/client_lines.hpp"

#include <algorithm>
#include <array>

#include "core/refusal/cursor.hpp"

namespace jobthrottle {

namespace {

// `words`, which end in a number, somewhere in `text`, and no further digit after them.
bool has_words(std::string_view text, std::string_view words) {
    for (std::size_t at = text.find(words); at != std::string_view::npos; at = text.find(words, at + 1)) {
        const std::string_view after = text.substr(at + words.size());
        if (after.empty() || !is_digit(after.front())) return true;
    }
    return false;
}

bool has(std::string_view text, std::string_view words) {
    return text.find(words) != std::string_view::npos;
}

bool is_curl(std::string_view line) {
    Cursor in(line);
    if (in.take("curl: (22) ")) return has_words(in.rest(), "error: 429");
    if (!in.take("curl: (56) ")) return false;
    return has_words(in.rest(), "response 429") || has_words(in.rest(), "code 429");
}

bool is_git(std::string_view line) {
    Cursor in(line);
    if (in.take("fatal: unable to access '"))
        return has_words(in.rest(), "': The requested URL returned error: 429");
    return in.take("error: RPC failed; HTTP 429 ");
}

// "2026-11-30 12:00:00 ERROR 429: Too Many Requests."
bool is_wget(std::string_view line) {
    constexpr std::string_view k_shape = "0000-00-00 00:00:00";
    if (line.size() < k_shape.size()) return false;
    for (std::size_t i = 0; i < k_shape.size(); ++i) {
        if (k_shape[i] == '0' ? !is_digit(line[i]) : line[i] != k_shape[i]) return false;
    }
    return line.substr(k_shape.size()).starts_with(" ERROR 429:");
}

bool is_gh(std::string_view line) {
    Cursor in(line);
    if (!in.take("gh: ")) return false;
    const std::string_view message = in.rest();
    if (message.ends_with("(HTTP 429)")) return true;
    return message.ends_with("(HTTP 403)") && has(message, "rate limit");
}

bool is_httpie(std::string_view line) {
    Cursor in(line);
    if (!in.take("https: ") && !in.take("http: ") && !in.take("xhs: ") && !in.take("xh: ")) return false;
    if (!in.take("LogLevel.WARNING: ") && !in.take("warning: ")) return false;
    return in.rest() == "HTTP 429" || in.rest().starts_with("HTTP 429 ");
}

bool is_npm(std::string_view line) {
    return line == "npm error code E429" || line == "npm ERR! code E429";
}

bool is_pip(std::string_view line) {
    Cursor in(line);
    in.take("  ");
    if (!in.take("ERROR: ")) return false;
    if (in.take("HTTP error 429 while getting ")) return true;
    return in.take("Could not install requirement ") && has(in.rest(), " because of HTTP error 429 ");
}

bool is_python(std::string_view line) {
    return line.starts_with("requests.exceptions.HTTPError: 429 Client Error: ") ||
           line.starts_with("httpx.HTTPStatusError: Client error '429 ") ||
           line.starts_with("urllib.error.HTTPError: HTTP Error 429: ");
}

bool is_yt_dlp(std::string_view line) {
    return line.starts_with("ERROR: ") && has_words(line, "HTTP Error 429");
}

bool is_kubectl(std::string_view line) {
    return line.starts_with("Error from server (TooManyRequests): ");
}

// botocore's own list, without LimitExceededException, which is a quota of things and not of requests.
bool is_aws_throttling(std::string_view code) {
    constexpr std::array<std::string_view, 13> k_codes = {"Throttling",
                                                          "ThrottlingException",
                                                          "ThrottledException",
                                                          "RequestThrottledException",
                                                          "TooManyRequestsException",
                                                          "ProvisionedThroughputExceededException",
                                                          "TransactionInProgressException",
                                                          "RequestLimitExceeded",
                                                          "BandwidthLimitExceeded",
                                                          "RequestThrottled",
                                                          "SlowDown",
                                                          "PriorRequestNotComplete",
                                                          "EC2ThrottledException"};
    return std::find(k_codes.begin(), k_codes.end(), code) != k_codes.end();
}

// "An error occurred (CODE) when calling the OP operation", alone, after aws s3's "upload failed: ..." or as
// the last line of a traceback of boto3.
bool is_aws(std::string_view line) {
    constexpr std::string_view k_error = "An error occurred (";
    constexpr std::array<std::string_view, 8> k_before = {
        "fatal error: ",   "upload failed: ", "download failed: ", "copy failed: ",
        "delete failed: ", "move failed: ",   "botocore.",         "aws: "};
    const std::size_t at = line.find(k_error);
    if (at == std::string_view::npos) return false;
    const auto begins_line = [&](std::string_view before) { return line.starts_with(before); };
    if (at > 0 && std::none_of(k_before.begin(), k_before.end(), begins_line)) return false;
    const std::string_view rest = line.substr(at + k_error.size());
    const std::size_t close = rest.find(')');
    if (close == std::string_view::npos) return false;
    return is_aws_throttling(rest.substr(0, close)) && rest.substr(close).starts_with(") when calling the ");
}

bool is_docker(std::string_view line) {
    constexpr std::string_view k_words = "toomanyrequests: ";
    Cursor in(line);
    if (in.take(k_words)) return true;
    in.take("docker: ");
    return in.take("Error response from daemon: ") && has(in.rest(), k_words);
}

}  // namespace

const std::vector<LineRule>& client_line_rules() {
    static const std::vector<LineRule> rules = {
        {"curl", "c", is_curl},       {"git", "fe", is_git},        {"wget", "0123456789", is_wget},
        {"gh", "g", is_gh},           {"httpie", "hx", is_httpie},  {"npm", "n", is_npm},
        {"pip", " E", is_pip},        {"python", "rhu", is_python}, {"yt-dlp", "E", is_yt_dlp},
        {"kubectl", "E", is_kubectl}, {"aws", "Afudcmba", is_aws},  {"docker", "tdE", is_docker}};
    return rules;
}

}  // namespace jobthrottle
