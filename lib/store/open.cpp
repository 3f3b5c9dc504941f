// SPDX-License-Identifier: MIT
#include "store/open.hpp"

#include <poll.h>

#include <array>
#include <string_view>

#include "base/text.hpp"
#include "store/local/local_store.hpp"
#include "store/redis/redis_store.hpp"

namespace jobthrottle {

namespace {

using Opened = Result<std::unique_ptr<Store>>;

constexpr std::string_view k_local = "local:";
constexpr std::string_view k_usual_prefix = "jobthrottle";  // in the local store the one without a name

bool is_readable(int fd) {
    pollfd polled{fd, POLLIN, 0};
    return fd >= 0 && poll(&polled, 1, 0) > 0;
}

Opened open_local(const StoreSettings& settings, StoreNotices& notices) {
    LocalOptions options;
    options.path = settings.url.substr(k_local.size());
    if (settings.prefix != k_usual_prefix) options.prefix = settings.prefix;
    options.command_timeout = settings.command_timeout;
    options.look_only = settings.look_only;
    options.interrupted = [fd = settings.interrupt_fd] { return is_readable(fd); };
    options.notice = [&notices](const std::string& text) { notices.push_back(text); };
    const auto place = find_local_place(options);
    if (!place) return place.error();
    if (place->fell_back) {
        notices.push_back(escape_for_display(options.system_folder) +
                          " may not be written by this user: throttling in " +
                          escape_for_display(place->folder) + ", which others do not share");
    }
    return open_local_store(options, *place);
}

Opened open_redis(const StoreSettings& settings, StoreNotices& notices) {
    auto url = parse_redis_url(settings.url);
    if (!url) return url.error();
    if (!url->user.empty() && !url->password && !settings.password) {
        return config_error("store '" + mask_url(settings.url) +
                            "': a user without a password; set JOBTHROTTLE_PASSWORD, for example to s3cret");
    }
    RedisOptions options;
    options.url = std::move(*url);
    options.prefix = settings.prefix;
    options.connect_timeout = settings.connect_timeout;
    options.command_timeout = settings.command_timeout;
    options.password = settings.password;
    options.interrupt_fd = settings.interrupt_fd;
    options.notice = [&notices](const std::string& text) { notices.push_back(text); };
    return make_redis_store(options);
}

Opened open_fake(const StoreSettings& settings, StoreNotices&) {
    return config_error(
        "store '" + mask_url(settings.url) +
        "': fake: is not in this version; want local:, local:/PATH or redis://HOST, for example "
        "local:/var/tmp/scratch");
}

struct Scheme {
    std::string_view start;  // in lower case
    Opened (*open)(const StoreSettings&, StoreNotices&);
};

// Of those for Redis the parser of URLs says which ones this version does not speak.
constexpr std::array k_schemes = {
    Scheme{k_local, open_local},
    Scheme{"fake:", open_fake},
    Scheme{"redis://", open_redis},
    Scheme{"unix://", open_redis},
    Scheme{"rediss://", open_redis},
    Scheme{"redis+sentinel://", open_redis},
    Scheme{"redis+cluster://", open_redis},
};

}  // namespace

Opened open_store(const StoreSettings& settings, StoreNotices& notices) {
    for (const auto& scheme : k_schemes) {
        if (starts_with_ignoring_case(settings.url, scheme.start)) return scheme.open(settings, notices);
    }
    return usage_error("store '" + mask_url(settings.url) +
                       "': want local:, local:/PATH, redis://HOST[:PORT][/DB] or unix:///PATH, for example "
                       "redis://ci-redis:6379/0");
}

}  // namespace jobthrottle
