// SPDX-License-Identifier: MIT
#include "contract/local_waiter.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>

namespace jobthrottle::test {

const std::vector<std::string> k_no_wake_files = {"state.lock", "state.mdb"};

LocalOptions timeless_options_in(const std::string& folder) {
    LocalOptions options = options_in(folder);
    options.hooks.clock_us = [] { return std::int64_t{5'000'000'000}; };
    return options;
}

bool woken(const std::vector<int>& descriptors, int within_ms) {
    std::vector<pollfd> ready;
    for (const int fd : descriptors)
        ready.push_back({fd, POLLIN, 0});
    return poll(ready.data(), ready.size(), within_ms) > 0;
}

LeaseWaiter::LeaseWaiter(const LocalOptions& options, TicketId place, const std::string& key)
    : m_store(open_store(options)), m_key(key_named(key)), m_place(place) {}

Answer LeaseWaiter::ask() {
    Question question = question_in_line(m_place);
    question.processes = m_store->processes(getpid(), 0);
    const auto answer = m_store->ask(m_key, question);
    if (!answer) throw std::runtime_error(answer.error().message);
    m_wake = answer->wake;
    return *answer;
}

std::vector<int> LeaseWaiter::listen() {
    const auto descriptors = m_store->listen({{m_key, m_place, m_wake}});
    if (!descriptors) throw std::runtime_error(descriptors.error().message);
    return *descriptors;
}

bool LeaseWaiter::wait() {
    while (ask().kind != AnswerKind::start) {
        if (!woken(listen(), k_patience_ms)) return false;
    }
    return true;
}

StartId take_place(Store& store, const std::string& processes) {
    Question question = question_at(terms_of({}, 1));
    question.lock_for = std::chrono::hours{1};
    question.processes = processes;
    const auto answer = store.ask(key_named("k"), question);
    if (!answer) throw std::runtime_error(answer.error().message);
    if (!answer->leased) throw std::runtime_error("no lease was given");
    return question.id;
}

std::string wake_file(const TempDir& folder, TicketId place) {
    return folder.file("state.000000000000000" + std::to_string(place) + ".wake");
}

void expect_byte(const Pipe& pipe) {
    char byte = 0;
    if (read(pipe.read_end.get(), &byte, 1) != 1) throw std::runtime_error("a child ended too soon");
}

pid_t start_sleeper() {
    return start_child([] {
        for (;;)
            ::pause();
        return 0;
    });
}

void end_by_force(pid_t child) {
    kill(child, SIGKILL);
    if (end_of(child) != 128 + SIGKILL) throw std::runtime_error("it ended before");
}

}  // namespace jobthrottle::test
