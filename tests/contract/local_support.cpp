// SPDX-License-Identifier: MIT
#include "contract/local_support.hpp"

#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <initializer_list>
#include <stdexcept>
#include <utility>

namespace jobthrottle::test {

namespace {

std::string text_of(const std::optional<Terms>& terms) {
    return terms ? terms->text() : "none";
}

std::string joined(std::initializer_list<std::int64_t> numbers) {
    std::string text;
    for (const auto number : numbers)
        text += std::to_string(number) + " ";
    return text;
}

std::string text_of(const Waiter& waiter) {
    return joined({static_cast<std::int64_t>(waiter.id), static_cast<std::int64_t>(waiter.place),
                   waiter.number, waiter.waited.count(), waiter.starts_in.count(), waiter.asks_in.count(),
                   waiter.cost, std::int64_t{waiter.caller}, std::int64_t{waiter.offered}}) +
           waiter.who;
}

}  // namespace

Key key_named(const std::string& name) {
    auto key = Key::make(name);
    if (!key) throw std::runtime_error(key.error().message);
    return std::move(key).value();
}

Rate rate_of(std::int64_t allow, Duration period, std::int64_t burst) {
    const auto rate = Rate::make(allow, period, burst);
    if (!rate) throw std::runtime_error(rate.error().message);
    return *rate;
}

Terms terms_of(std::vector<Rate> rates, std::optional<std::int64_t> concurrency) {
    auto terms = Terms::make(std::move(rates), concurrency);
    if (!terms) throw std::runtime_error(terms.error().message);
    return std::move(terms).value();
}

Terms terms_of(const Rate& rate) {
    return terms_of({rate}, std::nullopt);
}

Question question_at(Terms terms) {
    static StartId last = 0;
    Question question;
    question.id = ++last + static_cast<StartId>(getpid()) * 1'000'000'000;
    question.terms = std::move(terms);
    question.taking = Taking::start;
    return question;
}

Question question_at(const Rate& rate) {
    return question_at(terms_of(rate));
}

Question question_in_line(TicketId place, std::int64_t concurrency) {
    Question question = question_at(terms_of({}, concurrency));
    question.place = place;
    question.taking = Taking::place;
    return question;
}

LocalHooks Machine::hooks() {
    LocalHooks hooks;
    hooks.clock_us = [this] { return clock_us; };
    hooks.wall_us = [this] { return wall_us; };
    hooks.boot_id = [this] { return boot; };
    return hooks;
}

LocalOptions options_in(const std::string& folder) {
    LocalOptions options;
    options.path = folder;
    options.command_timeout = std::chrono::seconds{30};
    return options;
}

std::unique_ptr<Store> open_store(const LocalOptions& options) {
    auto store = open_local_store(options);
    if (!store) throw std::runtime_error(store.error().message);
    return std::move(store).value();
}

void start_once(const LocalOptions& options, const std::string& key) {
    const auto store = open_store(options);
    const auto rate = rate_of(1'000'000, std::chrono::hours{24 * 366}, 1'000'000);
    const auto answer = store->ask(key_named(key), question_at(rate));
    if (!answer) throw std::runtime_error(answer.error().message);
    if (answer->kind != AnswerKind::start) throw std::runtime_error("no start was given");
}

std::string text_of(const Answer& answer) {
    return joined({static_cast<std::int64_t>(answer.kind), answer.wait.count(), answer.earliest.count(),
                   static_cast<std::int64_t>(answer.why), answer.ahead, answer.number, answer.waited.count(),
                   answer.birth_us, answer.paused_for.count(), std::int64_t{answer.paused_by_hand},
                   std::int64_t{answer.leased}, answer.wake, answer.places, answer.waiting}) +
           answer.terms.text() + " | " + text_of(answer.registered) + " | " + text_of(answer.other);
}

std::string text_of(const Holder& holder) {
    return joined({static_cast<std::int64_t>(holder.id), std::int64_t{holder.held},
                   std::int64_t{holder.place}, holder.age.count(), holder.left.count(),
                   holder.renewed.count(), holder.cost}) +
           holder.who;
}

std::string text_of(const KeyReport& report) {
    std::string text =
        report.terms.text() + " " +
        joined({std::int64_t{report.known}, report.places, report.available_in.count(),
                report.paused_for.count(), std::int64_t{report.paused_for_ever},
                std::int64_t{report.paused_by_hand}, report.last_start_age_us, report.started});
    if (report.registration) text += encode(*report.registration) + " ";
    if (report.note) text += encode(*report.note);
    for (const auto& limit : report.limits)
        text += "\n" + limit.rate.text() + " " + joined({limit.starts, limit.remaining});
    for (const auto& waiter : report.waiting)
        text += "\n" + text_of(waiter);
    for (const auto& holder : report.holding)
        text += "\n" + text_of(holder);
    return text;
}

std::vector<std::string> files_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

int count_torn(const std::string& folder) {
    const auto names = files_in(folder);
    return static_cast<int>(std::count_if(names.begin(), names.end(), [](const std::string& name) {
        return name.find(".torn-") != std::string::npos;
    }));
}

pid_t start_child(const std::function<int()>& body) {
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("cannot fork");
    if (child > 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(98);
    int code = 99;
    try {
        code = body();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "child: %s\n", e.what());
    }
    _exit(code);
}

int end_of(pid_t child) {
    for (int tries = 0; tries < 60'000; ++tries) {
        int status = 0;
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended < 0) throw std::runtime_error("cannot wait for a child");
        if (ended > 0) return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        const timespec millisecond{0, 1'000'000};
        nanosleep(&millisecond, nullptr);
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    throw std::runtime_error("a child did not end within a minute");
}

int run_child(const std::function<int()>& body) {
    return end_of(start_child(body));
}

std::string make_shared_folder(const TempDir& parent) {
    std::string folder = parent.file("shared");
    const bool made = chmod(parent.path().c_str(), 0755) == 0 && mkdir(folder.c_str(), 0700) == 0 &&
                      chown(folder.c_str(), 0, k_some_group) == 0 && chmod(folder.c_str(), 02770) == 0;
    if (!made) throw std::runtime_error(folder + " cannot be made");
    return folder;
}

void become(unsigned user, unsigned group) {
    if (setgroups(0, nullptr) != 0 || setgid(group) != 0 || setuid(user) != 0)
        throw std::runtime_error("cannot become another user");
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of user takes it off
}

}  // namespace jobthrottle::test
