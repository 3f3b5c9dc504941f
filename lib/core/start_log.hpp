// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "core/key_records.hpp"

namespace jobthrottle {

// The log of a key's starts: a ring whose entries are times, in order. Up to k_log_exact starts in a period
// every start has an entry of its own; above, ceil(N / k_log_exact) starts share one, the time of the last of
// them: a window read from it is never over the limit and at most one part in k_log_exact under it.
constexpr std::int64_t k_log_exact = 2044;
constexpr std::int64_t k_log_entries = k_log_exact + 1;

class StartLog {
public:
    StartLog(KeyRecords& records, Header& header) : m_records(records), m_header(header) {}

    // When the count-th newest start was (1: the newest), or a little later; nothing where the log does not
    // reach that far back. REQUIRES: count >= 1.
    std::optional<std::int64_t> start_back(std::int64_t count) const;

    // Notes a start. REQUIRES: at_us >= last_start_us. The log is laid out for this rate first where it is
    // not.
    void add(std::int64_t at_us, const Rate&);

    // How many starts are later than from_us, as far as the log reaches.
    std::int64_t count_after(std::int64_t from_us) const;

private:
    std::int64_t kept_groups() const;
    std::int64_t entry_us(std::int64_t group) const;
    void lay_out(const Rate&);

    KeyRecords& m_records;
    Header& m_header;
};

}  // namespace jobthrottle
