// SPDX-License-Identifier: MIT
#include "run/renewer.hpp"

#include <unistd.h>

#include <csignal>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace jobthrottle {

Renewer::Renewer(OpenStore open_own, pid_t command, std::function<BootTime()> clock)
    : m_open_own(std::move(open_own)), m_command(command), m_clock(std::move(clock)) {}

Renewer::~Renewer() {
    if (!m_thread.joinable()) return;
    {
        const std::lock_guard lock(m_mutex);
        m_stop = true;
    }
    m_changed.notify_one();
    m_thread.join();
}

Result<void> Renewer::start() {
    if (m_thread.joinable()) return {};
    // A thread inherits the mask; signals are for the one that waits for them.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    Result<void> result;
    try {
        m_thread = std::thread([this] { work(); });
    } catch (const std::system_error& error) {
        result = internal_error(std::string("cannot start a thread: ") + error.what());
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return result;
}

void Renewer::ask(std::vector<Wanted> wanted) {
    if (wanted.empty()) return;
    const auto started = start();
    const std::lock_guard lock(m_mutex);
    if (!started) {
        for (const auto& one : wanted)
            m_answered.push_back({one.lease, m_clock(), started.error()});
        return;
    }
    m_wanted.insert(m_wanted.end(), std::make_move_iterator(wanted.begin()),
                    std::make_move_iterator(wanted.end()));
    m_changed.notify_one();
}

std::vector<Renewer::Answered> Renewer::take_answers() {
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_answered, {});
}

void Renewer::work() {
    Opened store;
    std::unique_lock lock(m_mutex);
    while (true) {
        m_changed.wait(lock, [this] { return m_stop || !m_wanted.empty(); });
        if (m_stop) return;
        const auto round = std::exchange(m_wanted, {});
        lock.unlock();
        one_round(store, round);
        if (store) store->rest();
        lock.lock();
    }
}

void Renewer::one_round(Opened& store, const std::vector<Wanted>& round) {
    // A store that did not answer a moment ago is not waited for again.
    std::optional<Error> away;
    for (const auto& one : round) {
        const BootTime asked = m_clock();
        auto answer = away ? Result<LeaseAnswer>(*away) : renew(store, one);
        if (!answer && answer.error().kind == ErrorKind::unavailable) away = answer.error();
        if (!deliver({one.lease, asked, std::move(answer)})) return;
    }
}

Result<LeaseAnswer> Renewer::renew(Opened& store, const Wanted& wanted) const {
    if (!store) {
        if (!m_open_own) return internal_error("there is no store to renew a lease in");
        auto opened = m_open_own();
        if (!opened) return opened.error();
        store = std::move(opened).value();
    }
    Renewal renewal = wanted.renewal;
    // Each time: what was told at the start of the command may not have arrived.
    renewal.processes = store->processes(getpid(), m_command);
    return store->renew(wanted.key, renewal);
}

bool Renewer::deliver(Answered answered) {
    const std::lock_guard lock(m_mutex);
    m_answered.push_back(std::move(answered));
    return !m_stop;
}

}  // namespace jobthrottle
