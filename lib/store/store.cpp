// SPDX-License-Identifier: MIT
#include "store/store.hpp"

namespace jobthrottle {

Result<Answer> Store::ask(const Key& key, const Question& question) {
    auto answers = ask({{key, question}});
    if (!answers) return answers.error();
    return std::move(answers->front());
}

ForgetAnswer forget_records(KeyRecords& records, const KeyReport& report, bool force) {
    ForgetAnswer answer{false, report.known, {}, {}};
    for (const auto& waiter : report.waiting) {
        if (waiter.place == Place::in_line) answer.waiting.push_back(waiter);
    }
    for (const auto& holder : report.holding) {
        if (holder.held) answer.holding.push_back(holder);
    }
    answer.forgotten = force || (answer.waiting.empty() && answer.holding.empty());
    if (answer.forgotten) {
        records.clear();
        records.put_pause_note({});
    }
    return answer;
}

}  // namespace jobthrottle
