// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/key_records.hpp"

namespace jobthrottle {

// The logs of a key's starts: rings whose entries are times, in order. In a log of group 1 every start has an
// entry of its own; it serves every limit of up to k_log_exact starts. A larger limit has a log in which
// ceil(N / k_log_exact) starts share one entry, the time of the last of them: a window read from it is never
// over the limit and at most one part in k_log_exact under it. Every start is in every log, whichever limits
// it was judged by, as long as a log is needed.
constexpr std::int64_t k_log_exact = 2044;
constexpr std::int64_t k_log_entries = k_log_exact + 1;

class StartLogs {
public:
    StartLogs(KeyRecords& records, Header& header) : m_records(records), m_header(header) {}

    // When the count-th newest start was (1: the newest), or a little later, as the log for this rate says;
    // nothing where it does not reach that far back. REQUIRES: count >= 1.
    std::optional<std::int64_t> start_back(const Rate&, std::int64_t count) const;

    // Notes a start that counts as `cost` in every log, and makes the logs that these rates need. REQUIRES:
    // at_us >= last_start_us, not empty.
    void add(std::int64_t at_us, std::int64_t cost, const std::vector<Rate>&);

    // The start at this time counts as so many more, or fewer (below 0), from now on. Where a log does not
    // hold it any more, or more than a window may hold, nothing is taken out.
    void change(std::int64_t at_us, std::int64_t by);

    // How many starts are later than from_us, as far as the log for this rate reaches.
    std::int64_t count_after(const Rate&, std::int64_t from_us) const;

private:
    const LimitRow& row(std::size_t log) const { return m_header.rows[log]; }
    std::int64_t kept(std::size_t log) const;
    std::int64_t entry_us(std::size_t log, std::int64_t entry) const;
    std::optional<std::size_t> log_for(std::int64_t group) const;
    std::size_t place_for(std::int64_t at_us, const std::vector<Rate>&) const;
    std::int64_t first_after(std::size_t log, std::int64_t at_us) const;
    void be_ready(std::int64_t at_us, const Rate&, const std::vector<Rate>&);
    void lay_out(std::optional<std::size_t> from, std::size_t to, std::int64_t group, std::int64_t capacity);
    void push(std::size_t log, std::int64_t at_us, std::int64_t cost);
    void change(std::size_t log, std::int64_t at_us, std::int64_t by);
    bool is_over_full(std::size_t log) const;
    void put_newest(std::size_t log, std::int64_t count, std::int64_t at_us);

    KeyRecords& m_records;
    Header& m_header;
};

}  // namespace jobthrottle
