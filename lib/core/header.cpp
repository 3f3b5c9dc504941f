// SPDX-License-Identifier: MIT
#include "core/header.hpp"

#include <algorithm>
#include <cstring>

#include "base/fields.hpp"

namespace jobthrottle {

namespace {

constexpr char k_tag[] = {'j', 't', 'k'};

constexpr std::array<std::int64_t Header::*, Header::k_fields> k_order = {
    &Header::birth_us,
    &Header::offset_us,
    &Header::seen_us,
    &Header::last_start_us,
    &Header::paused_until_us,
    &Header::paused_by_hand,
    &Header::paced_number,
    &Header::numbers,
    &Header::in_line,
    &Header::out,
    &Header::away,
    &Header::line_cost,
    &Header::wakes,
    &Header::next_deadline_us,
    &Header::recent_total,
    &Header::starts_until_us,
    &Header::tickets_until_us,
    &Header::leases,
    &Header::held,
    &Header::places,
    &Header::open,
    &Header::next_lease_us,
    &Header::leases_until_us,
    &Header::last_concurrency,
    &Header::last_departure_us,
    &Header::departure_us,
    &Header::idle_until_us,
};

constexpr std::array<std::int64_t LimitRow::*, LimitRow::k_fields> k_row_order = {
    &LimitRow::slot_us,      &LimitRow::slot_rest,    &LimitRow::slot_allow,     &LimitRow::slot_cost,
    &LimitRow::log_group,    &LimitRow::log_capacity, &LimitRow::log_total,      &LimitRow::log_fill,
    &LimitRow::log_until_us, &LimitRow::last_allow,   &LimitRow::last_period_us, &LimitRow::last_burst,
};

bool in_use(const LimitRow& row) {
    return row.slot_allow != 0 || row.log_group != 0 || row.last_allow != 0;
}

}  // namespace

std::optional<Slot> LimitRow::slot_for(const Rate& rate) const {
    if (slot_allow == 0) return std::nullopt;
    if (slot_allow == rate.allow()) return Slot{slot_us, slot_rest};
    return Slot{slot_us + (slot_rest > 0 ? 1 : 0), 0};
}

void LimitRow::take_slot(const Slot& slot, const Rate& rate, std::int64_t cost) {
    slot_us = slot.time_us;
    slot_rest = slot.rest;
    slot_allow = rate.allow();
    slot_cost = cost;
}

std::optional<Rate> LimitRow::last_rate() const {
    if (last_allow == 0) return std::nullopt;
    return Rate::restore(last_allow, last_period_us, last_burst, last_burst);
}

std::size_t Header::rows_in_use() const {
    std::size_t count = k_rows;
    while (count > 0 && !in_use(rows[count - 1]))
        --count;
    return count;
}

Terms Header::last_terms() const {
    std::vector<Rate> rates;
    for (const auto& row : rows) {
        if (const auto rate = row.last_rate()) rates.push_back(*rate);
    }
    const auto at_once = last_concurrency > 0 ? std::optional<std::int64_t>{last_concurrency} : std::nullopt;
    auto terms = Terms::make(std::move(rates), at_once);
    return terms ? std::move(terms).value() : Terms{};
}

void Header::set_last_terms(const Terms& terms) {
    for (std::size_t i = 0; i < k_rows; ++i) {
        const bool there = i < terms.rates().size();
        rows[i].last_allow = there ? terms.rates()[i].allow() : 0;
        rows[i].last_period_us = there ? terms.rates()[i].period().count() : 0;
        rows[i].last_burst = there ? terms.rates()[i].burst() : 0;
    }
    if (terms.concurrency() || places == 0) last_concurrency = terms.concurrency().value_or(0);
}

std::int64_t Header::matters_until_us() const {
    const bool tickets = in_line + out + away > 0;
    return std::max(
        {starts_until_us, paused_until_us, tickets ? tickets_until_us : 0, leases > 0 ? leases_until_us : 0});
}

std::array<std::int64_t, Header::k_fields + Header::k_rows * LimitRow::k_fields> fields_of(
    const Header& header) {
    std::array<std::int64_t, Header::k_fields + Header::k_rows * LimitRow::k_fields> fields{};
    std::size_t at = 0;
    for (const auto field : k_order)
        fields[at++] = header.*field;
    for (const auto& row : header.rows) {
        for (const auto field : k_row_order)
            fields[at++] = row.*field;
    }
    return fields;
}

std::string encode(const Header& header) {
    std::string bytes(k_tag, sizeof k_tag);
    bytes.reserve(Header::k_bytes);
    bytes.push_back(Header::k_version);
    bytes.append(4, '\0');
    for (const auto field : k_order)
        put_field(bytes, header.*field);
    for (std::size_t row = 0; row < header.rows_in_use(); ++row) {
        for (const auto field : k_row_order)
            put_field(bytes, header.rows[row].*field);
    }
    bytes.resize(Header::k_bytes, '\0');
    return bytes;
}

std::optional<Header> decode_header(std::string_view bytes, HeaderProblem* problem) {
    const auto says = [&](HeaderProblem what) {
        if (problem != nullptr) *problem = what;
    };
    says(HeaderProblem::foreign);
    if (bytes.size() < Header::k_bytes || std::memcmp(bytes.data(), k_tag, sizeof k_tag) != 0)
        return std::nullopt;
    if (bytes[3] > Header::k_version) says(HeaderProblem::newer);
    if (bytes[3] != Header::k_version) return std::nullopt;
    says(HeaderProblem::none);
    Header header;
    std::size_t at = 8;
    for (const auto field : k_order) {
        header.*field = field_at(bytes, at);
        at += 8;
    }
    for (auto& row : header.rows) {
        for (const auto field : k_row_order) {
            row.*field = field_at(bytes, at);
            at += 8;
        }
    }
    return header;
}

}  // namespace jobthrottle
