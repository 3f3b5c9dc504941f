// SPDX-License-Identifier: MIT
#include "store/redis/url.hpp"

#include <sys/un.h>

#include "base/text.hpp"

namespace jobthrottle {

namespace {

constexpr std::size_t k_longest_socket_path = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::int64_t k_highest_port = 65535;
constexpr std::int64_t k_highest_database = 1'000'000'000;

Error ill_formed(std::string_view text, const std::string& what) {
    return usage_error("store '" + mask_url(text) + "': " + what +
                       "; want redis://[USER:PASSWORD@]HOST[:PORT][/DB] or unix:///PATH[?db=N], for example "
                       "redis://ci-redis:6379/0");
}

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::optional<std::string> percent_decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
        if (high < 0 || low < 0) return std::nullopt;
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

// What is wrong with the text before the @, or nothing.
std::optional<std::string> read_credentials(std::string_view text, RedisUrl& url) {
    const auto colon = text.find(':');
    const auto user = percent_decoded(text.substr(0, colon));
    if (!user) return "a % in the user must begin two hexadecimal digits";
    url.user = *user;
    if (colon == std::string_view::npos) return std::nullopt;
    const auto password = percent_decoded(text.substr(colon + 1));
    if (!password) return "a % in the password must be written %25";
    url.password = *password;
    return std::nullopt;
}

std::optional<std::string> read_database(std::string_view text, RedisUrl& url) {
    const auto number = parse_whole_number(text);
    if (!number || *number > k_highest_database) return "the database is a number from 0";
    url.database = static_cast<int>(*number);
    return std::nullopt;
}

std::optional<std::string> read_host(std::string_view text, RedisUrl& url) {
    std::string_view host = text, port;
    bool has_port = false;
    const auto colon = text.rfind(':');
    if (!text.empty() && text.front() == '[') {
        const auto close = text.find(']');
        if (close == std::string_view::npos) return "a [ without a ]";
        host = text.substr(1, close - 1);
        const std::string_view rest = text.substr(close + 1);
        has_port = !rest.empty();
        if (has_port && rest.front() != ':') return "only a port may follow the ]";
        if (has_port) port = rest.substr(1);
    } else if (colon != std::string_view::npos) {
        if (text.find(':') != colon) return "an IPv6 address stands in brackets, [::1]:6379";
        has_port = true;
        host = text.substr(0, colon);
        port = text.substr(colon + 1);
    }
    const auto decoded = percent_decoded(host);
    if (!decoded || decoded->empty() || decoded->find('\0') != std::string::npos) return "a host is missing";
    url.host = *decoded;
    if (!has_port) return std::nullopt;
    const auto number = parse_whole_number(port);
    if (!number || *number < 1 || *number > k_highest_port) return "a port is a number from 1 to 65535";
    url.port = static_cast<std::uint16_t>(*number);
    return std::nullopt;
}

std::optional<std::string> read_network_url(std::string_view rest, RedisUrl& url) {
    if (rest.find_first_of("?#") != std::string_view::npos) return "nothing may follow the database";
    const auto slash = rest.find('/');
    std::string_view authority = rest.substr(0, slash);
    if (slash != std::string_view::npos && slash + 1 < rest.size()) {
        if (auto wrong = read_database(rest.substr(slash + 1), url)) return wrong;
    }
    if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
        if (auto wrong = read_credentials(authority.substr(0, at), url)) return wrong;
        authority.remove_prefix(at + 1);
    }
    return read_host(authority, url);
}

std::optional<std::string> read_socket_url(std::string_view rest, RedisUrl& url) {
    const auto query = rest.find('?');
    std::string_view path = rest.substr(0, query);
    if (query != std::string_view::npos) {
        const std::string_view option = rest.substr(query + 1);
        if (option.substr(0, 3) != "db=") return "only ?db=N may follow the path";
        if (auto wrong = read_database(option.substr(3), url)) return wrong;
    }
    const auto slash = path.find('/');
    if (slash == std::string_view::npos) return "the path begins with a /";
    if (slash > 0) {
        if (path[slash - 1] != '@') return "the path begins with a third /";
        if (auto wrong = read_credentials(path.substr(0, slash - 1), url)) return wrong;
        path.remove_prefix(slash);
    }
    const auto decoded = percent_decoded(path);
    if (!decoded || decoded->find('\0') != std::string::npos) return "a % in the path must be written %25";
    if (decoded->size() < 2) return "the path of the socket is missing";
    if (decoded->size() > k_longest_socket_path) {
        return "the path of a socket has at most " + std::to_string(k_longest_socket_path) + " bytes";
    }
    url.socket_path = *decoded;
    return std::nullopt;
}

}  // namespace

std::string mask_url(std::string_view text) {
    const auto scheme = text.find("://");
    const auto at = text.rfind('@');
    if (scheme == std::string_view::npos || at == std::string_view::npos || at < scheme + 3) {
        return escape_for_display(text);
    }
    return escape_for_display(text.substr(0, scheme + 3)) + "***" + escape_for_display(text.substr(at));
}

std::string RedisUrl::shown() const {
    const std::string credentials = (user.empty() ? "" : escape_for_display(user)) + (password ? ":***" : "");
    const std::string before = credentials.empty() ? "" : credentials + "@";
    if (host.empty()) {
        return "unix://" + before + escape_for_display(socket_path) +
               (database == 0 ? "" : "?db=" + std::to_string(database));
    }
    const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
    return "redis://" + before + escape_for_display(name) + ":" + std::to_string(port) + "/" +
           std::to_string(database);
}

Result<RedisUrl> parse_redis_url(std::string_view text) {
    const auto colon = text.find("://");
    if (colon == std::string_view::npos) return ill_formed(text, "this is no URL");
    const std::string scheme = to_lower(text.substr(0, colon));
    const std::string_view rest = text.substr(colon + 3);
    if (scheme == "rediss" || scheme == "redis+sentinel" || scheme == "redis+cluster") {
        return config_error("store '" + mask_url(text) + "': " + scheme +
                            ":// is not in this version; want redis://HOST[:PORT][/DB], for example "
                            "redis://ci-redis:6379/0");
    }
    RedisUrl url;
    std::optional<std::string> wrong;
    if (scheme == "redis") {
        wrong = read_network_url(rest, url);
    } else if (scheme == "unix") {
        wrong = read_socket_url(rest, url);
    } else {
        wrong = "'" + escape_for_display(scheme) + "' is no scheme of Redis";
    }
    if (wrong) return ill_formed(text, *wrong);
    return url;
}

}  // namespace jobthrottle
