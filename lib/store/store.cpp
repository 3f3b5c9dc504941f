// SPDX-License-Identifier: MIT
#include "store/store.hpp"

namespace jobthrottle {

Result<Answer> Store::ask(const Key& key, const Question& question) {
    auto answers = ask({{key, question}});
    if (!answers) return answers.error();
    return std::move(answers->front());
}

ForgetAnswer in_the_way(const KeyReport& report) {
    ForgetAnswer answer{false, report.known, {}, {}};
    for (const auto& waiter : report.waiting) {
        if (waiter.place == Place::in_line) answer.waiting.push_back(waiter);
    }
    for (const auto& holder : report.holding) {
        if (holder.held) answer.holding.push_back(holder);
    }
    return answer;
}

ForgetAnswer forget_records(KeyRecords& records, const KeyReport& report, bool force) {
    ForgetAnswer answer = in_the_way(report);
    answer.forgotten = force || (answer.waiting.empty() && answer.holding.empty());
    if (answer.forgotten) {
        records.clear();
        records.put_pause_note({});
    }
    return answer;
}

std::vector<Holder> release_holders(KeyRecords& records, std::int64_t store_now_us, bool only_dead) {
    std::vector<Holder> holders;
    for (const auto& [id, lease] : release_leases(records, store_now_us, only_dead))
        holders.push_back(holder_of(id, lease, records.header()->seen_us));
    return holders;
}

}  // namespace jobthrottle
