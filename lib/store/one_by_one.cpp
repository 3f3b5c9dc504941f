// SPDX-License-Identifier: MIT
#include "store/one_by_one.hpp"

#include <algorithm>
#include <numeric>

namespace jobthrottle {

namespace {

// Where a start was refused after all: when the others have settled.
constexpr Duration k_after_conflict = std::chrono::milliseconds{5};

class OneByOne {
public:
    OneByOne(const std::vector<Asked>& asked, const StoreOf& store_of)
        : m_asked(asked), m_store_of(store_of), m_answers(asked.size()), m_order(asked.size()) {
        std::iota(m_order.begin(), m_order.end(), std::size_t{0});
        std::sort(m_order.begin(), m_order.end(),
                  [&](std::size_t a, std::size_t b) { return asked[a].key < asked[b].key; });
    }

    Result<std::vector<Answer>> decide() {
        const Taking taking = m_asked.front().question.taking;
        if (const auto looked = look(taking); !looked) return looked.error();
        if (give_up_refused()) return std::move(m_answers);
        const bool all = std::all_of(m_answers.begin(), m_answers.end(),
                                     [](const Answer& answer) { return answer.kind == AnswerKind::start; });
        if (!all) {
            wait_together();
        } else if (taking != Taking::nothing) {
            if (const auto taken = take(); !taken) return taken.error();
        } else {
            start_together();
        }
        return std::move(m_answers);
    }

private:
    Result<Answer> ask(std::size_t i, const Question& question) {
        return m_store_of(m_asked[i].key).ask(m_asked[i].key, question);
    }

    // Whether each would let it start; with a place in line where one is wanted.
    Result<void> look(Taking taking) {
        for (const std::size_t i : m_order) {
            Question question = m_asked[i].question;
            question.hold = taking == Taking::place;
            if (taking == Taking::start) question.taking = Taking::nothing;
            auto answer = ask(i, question);
            if (!answer) return answer.error();
            m_answers[i] = std::move(*answer);
        }
        return {};
    }

    // One that could never start keeps no place anywhere. True: there is such a one.
    bool give_up_refused() {
        const bool refused = std::any_of(m_answers.begin(), m_answers.end(), [](const Answer& answer) {
            return answer.kind != AnswerKind::start && answer.kind != AnswerKind::wait;
        });
        for (const auto& one : m_asked) {
            if (refused) (void)m_store_of(one.key).cancel(one.key, one.question.place);
        }
        return refused;
    }

    Result<void> take() {
        const std::vector<Answer> looked = m_answers;
        for (std::size_t n = 0; n < m_order.size(); ++n) {
            const std::size_t i = m_order[n];
            auto answer = ask(i, m_asked[i].question);
            if (answer && answer->kind == AnswerKind::start) {
                m_answers[i] = std::move(*answer);
                continue;
            }
            give_back(n, looked);
            if (!answer) return answer.error();
            m_answers[i] = std::move(*answer);
            wait_together();
            return {};
        }
        start_together();
        return {};
    }

    // The first `count` in order.
    void give_back(std::size_t count, const std::vector<Answer>& looked) {
        for (std::size_t n = 0; n < count; ++n) {
            const std::size_t i = m_order[n];
            const Question& question = m_asked[i].question;
            GiveBack given{question.id,      question.cost,    question.place,
                           looked[i].number, looked[i].waited, question.who};
            if (question.taking != Taking::place) given.number = 0;
            (void)m_store_of(m_asked[i].key).give_back(m_asked[i].key, given);
            m_answers[i] = looked[i];
            m_answers[i].leased = false;
        }
    }

    // All are told the longest wait; a key that would start waits for the others.
    void wait_together() {
        Duration wait = k_after_conflict;
        for (const Answer& answer : m_answers) {
            if (answer.kind == AnswerKind::wait) wait = std::max(wait, answer.wait);
        }
        for (Answer& answer : m_answers) {
            if (answer.kind == AnswerKind::start) answer.kind = AnswerKind::wait;
            if (answer.kind == AnswerKind::wait) answer.wait = wait;
        }
    }

    void start_together() {
        Duration wait{};
        for (const Answer& answer : m_answers)
            wait = std::max(wait, answer.wait);
        for (Answer& answer : m_answers)
            answer.wait = answer.earliest = wait;
    }

    const std::vector<Asked>& m_asked;
    const StoreOf& m_store_of;
    std::vector<Answer> m_answers;
    std::vector<std::size_t> m_order;
};

}  // namespace

Result<std::vector<Answer>> ask_one_by_one(const std::vector<Asked>& asked, const StoreOf& store_of) {
    return OneByOne(asked, store_of).decide();
}

}  // namespace jobthrottle
