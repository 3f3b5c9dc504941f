// SPDX-License-Identifier: MIT
// What one decision costs, by the limit and by the length of the line, over records in memory. It does not
// grow with the limit. In a long line the records walk to the 64th place, in list order: that far and no
// farther.
#include <benchmark/benchmark.h>

#include <chrono>

#include "core/decide.hpp"
#include "core/memory_records.hpp"

namespace {

using namespace jobthrottle;

constexpr Duration k_spacing = std::chrono::milliseconds{200};

// A key with so many in line, each of whom asks again at its slot.
class Line {
public:
    Line(std::int64_t allow, std::int64_t waiting)
        : m_terms(Terms::make({Rate::make(allow, allow * k_spacing).value()}).value()) {
        // The log is full, as it is after a period.
        for (std::int64_t i = 0; i < std::min<std::int64_t>(allow, 5000); ++i)
            start_alone();
        pause(m_records, m_now_us, {k_spacing * 2, false, false, {}});
        for (std::int64_t i = 0; i < waiting; ++i)
            join();
        m_now_us += k_spacing.count();
    }

    Answer ask(TicketId place) {
        Question question;
        question.id = ++m_ids;
        question.place = place;
        question.terms = m_terms;
        question.caller = true;  // told the true time
        return jobthrottle::ask(m_records, m_now_us, question, {std::chrono::seconds{2}});
    }
    bool start_alone() {
        m_now_us += k_spacing.count();
        return ask(k_alone).kind == AnswerKind::start;
    }
    Answer join() { return ask(++m_last_place); }
    // The first in line starts and another one joins at the end.
    bool turn() {
        m_now_us += k_spacing.count();
        const bool started = ask(++m_first_place).kind == AnswerKind::start;
        join();
        return started;
    }
    TicketId first_place() const { return m_first_place; }
    TicketId last_place() const { return m_last_place; }

private:
    static constexpr TicketId k_alone = 1;
    MemoryRecords m_records;
    Terms m_terms;
    std::int64_t m_now_us = 1'700'000'000'000'000;
    StartId m_ids = 0;
    TicketId m_first_place = k_alone, m_last_place = k_alone;
};

void start_on_a_key_without_a_line(benchmark::State& state) {
    Line line(state.range(0), 0);
    line.start_alone();
    while (state.KeepRunning()) {
        if (!line.start_alone()) state.SkipWithError("no start");
    }
}
BENCHMARK(start_on_a_key_without_a_line)->Arg(10)->Arg(1000)->Arg(1'000'000);

// One start and one newcomer's wait.
void turn_of_a_line(benchmark::State& state) {
    Line line(state.range(0), state.range(1));
    while (state.KeepRunning()) {
        if (!line.turn()) state.SkipWithError("no start");
    }
}
BENCHMARK(turn_of_a_line)->ArgsProduct({{10, 1000, 1'000'000}, {10, 10'000}});

// One that waits asks again: somewhere in the first 64, and at the end of the line.
void return_near_the_head(benchmark::State& state) {
    Line line(state.range(0), state.range(1));
    while (state.KeepRunning())
        benchmark::DoNotOptimize(line.ask(line.first_place() + 5));
}
BENCHMARK(return_near_the_head)->ArgsProduct({{10, 1000, 1'000'000}, {10, 10'000}});

void return_at_the_end(benchmark::State& state) {
    Line line(state.range(0), state.range(1));
    while (state.KeepRunning())
        benchmark::DoNotOptimize(line.ask(line.last_place()));
}
BENCHMARK(return_at_the_end)->ArgsProduct({{10, 1000, 1'000'000}, {10, 10'000}});

}  // namespace

BENCHMARK_MAIN();
