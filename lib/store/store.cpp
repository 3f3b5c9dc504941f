// SPDX-License-Identifier: MIT
#include "store/store.hpp"

namespace jobthrottle {

ForgetAnswer forget_records(KeyRecords& records, const KeyReport& report, bool force) {
    ForgetAnswer answer{false, report.known, {}};
    for (const auto& waiter : report.waiting) {
        if (waiter.place == Place::in_line) answer.waiting.push_back(waiter);
    }
    answer.forgotten = force || answer.waiting.empty();
    if (answer.forgotten) {
        records.clear();
        records.put_pause_note({});
    }
    return answer;
}

}  // namespace jobthrottle
