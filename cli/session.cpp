// SPDX-License-Identifier: MIT
#include "cli/session.hpp"

#include <cstdlib>
#include <string_view>

#include "base/text.hpp"
#include "cli/log.hpp"
#include "cli/machine.hpp"
#include "cli/print.hpp"
#include "store/local/local_store.hpp"

namespace jobthrottle {

namespace {

constexpr std::string_view k_local = "local:";

bool is_local(std::string_view url) {
    return starts_with_ignoring_case(url, k_local);
}

// "store 'x': want ..." with who chose it in the place of "store".
std::string with_chooser(const std::string& message, const std::string& given_by) {
    constexpr std::string_view k_store = "store ";
    if (given_by.empty()) return message;
    if (message.rfind(k_store, 0) == 0) return given_by + " " + message.substr(k_store.size());
    return given_by + ": " + message;
}

bool runs_in_ci() {
    const char* ci = std::getenv("CI");
    return ci != nullptr && *ci != '\0' && std::string_view(ci) != "false";
}

// Where the password and what is around it stand: "scheme://[USER]:PASSWORD@...".
struct Credentials {
    std::size_t colon = 0;
    std::size_t at = 0;
};
std::optional<Credentials> credentials_in(std::string_view url) {
    const auto scheme = url.find("://");
    if (scheme == std::string_view::npos) return std::nullopt;
    const auto begin = scheme + 3;
    const auto end = std::min(url.find('/', begin), url.size());
    const auto at = url.substr(0, end).rfind('@');
    const auto colon = url.find(':', begin);
    if (at == std::string_view::npos || at < begin || colon > at) return std::nullopt;
    return Credentials{colon, at};
}

}  // namespace

std::string without_password(const std::string& url) {
    const auto credentials = credentials_in(url);
    if (!credentials) return url;
    const std::string before = url.substr(0, credentials->colon);
    const bool has_user = before.back() != '/';
    return before + url.substr(credentials->at + (has_user ? 0 : 1));
}

StoreSettings Session::store_settings(const std::string& url) const {
    const Settings& settings = m_common.settings;
    StoreSettings wanted;
    wanted.url = url;
    wanted.prefix = settings.prefix.value;
    wanted.connect_timeout = settings.connect_timeout.value;
    wanted.command_timeout = settings.command_timeout.value;
    wanted.password = settings.password.value;
    wanted.interrupt_fd = m_interrupt_fd;
    return wanted;
}

Result<Session> Session::open(const Common& common, Purpose purpose, int interrupt_fd) {
    if (common.verbose) start_debug_log();
    Session session(common, interrupt_fd);
    const auto& chosen = common.settings.store;
    StoreSettings wanted = session.store_settings(chosen.value);
    wanted.look_only = purpose == Purpose::look;
    auto store = open_store(wanted, *session.m_notices);
    if (!store) {
        Error error = store.error();
        error.message = with_chooser(error.message, chosen.given_by);
        // What a variable holds is configuration.
        if (error.kind == ErrorKind::usage && chosen.given_by != "--store") error.kind = ErrorKind::config;
        return error;
    }
    session.m_store = std::move(store).value();
    session.say_about_choice(purpose);
    debug("store " + session.m_store->name() + ", chosen by " +
          (chosen.is_default() ? "default" : chosen.given_by));
    return session;
}

Session::~Session() {
    if (m_notices) say_news();
}

void Session::say_news() {
    for (const auto& text : *m_notices) {
        if (!m_common.quiet) say(say_warning(text));
    }
    m_notices->clear();
}

void Session::say_about_choice(Purpose purpose) {
    say_news();
    if (m_common.quiet) return;
    const auto& chosen = m_common.settings.store;
    if (chosen.given_by == "--store" && credentials_in(chosen.value)) {
        say(say_warning(
            "a password in --store is seen by every user of this machine: put it in JOBTHROTTLE_PASSWORD "
            "or the whole URL in JOBTHROTTLE_STORE"));
    }
    if (purpose == Purpose::throttle && chosen.is_default() && runs_in_ci()) {
        say(say_warning(
            "CI is set and no store is chosen: this machine alone is throttled; share the limit with "
            "JOBTHROTTLE_STORE=redis://host"));
    }
}

OpenFallback Session::fallback() const {
    const bool is_own = is_local(m_common.settings.store.value);
    return [settings = store_settings(std::string(k_local)), notices = m_notices.get(),
            is_own]() -> Result<std::unique_ptr<Store>> {
        if (is_own) return unavailable_error("it is the one that is away");
        return open_store(settings, *notices);
    };
}

OpenStore Session::opener() const {
    StoreSettings wanted = store_settings(m_common.settings.store.value);
    wanted.interrupt_fd = -1;
    return [wanted, unheard = std::make_shared<StoreNotices>()]() { return open_store(wanted, *unheard); };
}

std::string Session::url_for_command() const {
    const auto& chosen = m_common.settings.store;
    return chosen.given_by == "--store" ? without_password(chosen.value) : chosen.value;
}

std::string Session::shared_note() const {
    const std::string& url = m_common.settings.store.value;
    if (!is_local(url)) return {};
    LocalOptions options;
    options.path = url.substr(k_local.size());
    options.prefix = m_common.settings.prefix.value;
    const auto place = find_local_place(options);
    const std::string who = user_and_host();
    return place && place->only_user ? "shared by user " + who.substr(0, who.find('@')) + " only" : "";
}

int Session::exit_with(const Error& error) const {
    std::string text = error.message;
    if (error.kind == ErrorKind::unavailable)
        text = "store " + m_store->name() + " is away (" + error.message + ")";
    if (error.kind == ErrorKind::refused) text = "store " + m_store->name() + ": " + error.message;
    return jobthrottle::exit_with({error.kind, text});
}

}  // namespace jobthrottle
