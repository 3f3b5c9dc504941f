// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "run/gate.hpp"
#include "store/open.hpp"
#include "store/store.hpp"

namespace jobthrottle {

// Why a command opens the store: one that throttles has more to say about where; one that tends what another
// began has not; one that looks makes nothing.
enum class Purpose { throttle, tend, look };

// A command's connection to its store, as the settings name it.
class Session {
public:
    // Says once what there is to say about the choice of the store (unless quiet). `interrupt_fd` ends calls
    // that would wait, -1: nothing does; borrowed. An error names the option or variable that chose the
    // store.
    static Result<Session> open(const Common& common, Purpose purpose, int interrupt_fd = -1);

    Session(Session&&) = default;
    Session& operator=(Session&&) = delete;
    ~Session();  // says the news

    Store& store() { return *m_store; }
    // What the store has had to say since the last time; each is said once, unless quiet.
    void say_news();
    // Opens this machine's own store, for while the other is away.
    OpenFallback fallback() const;
    // Opens another connection to the same store, for a thread or a process of its own: no signal ends its
    // calls, and what it has to say has been said by the first.
    OpenStore opener() const;

    // JOBTHROTTLE_STORE for a command: the store's URL, with a password only where one was in the environment
    // already.
    std::string url_for_command() const;
    // Says an error of the store with the store's name; gives the exit code.
    int exit_with(const Error& error) const;
    // "shared by user dev only", or empty.
    std::string shared_note() const;

private:
    Session(Common common, int interrupt_fd) : m_common(std::move(common)), m_interrupt_fd(interrupt_fd) {}
    StoreSettings store_settings(const std::string& url) const;
    void say_about_choice(Purpose purpose);

    Common m_common;
    int m_interrupt_fd;
    std::unique_ptr<StoreNotices> m_notices = std::make_unique<StoreNotices>();  // outlives the store
    std::unique_ptr<Store> m_store;
};

// A URL without the password that stands in it, if one does.
std::string without_password(const std::string& url);

}  // namespace jobthrottle
