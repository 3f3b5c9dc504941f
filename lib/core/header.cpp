// SPDX-License-Identifier: MIT
#include "core/header.hpp"

#include <algorithm>
#include <cstring>

namespace jobthrottle {

namespace {

constexpr char k_tag[] = {'j', 't', 'k'};

constexpr std::array<std::int64_t Header::*, Header::k_fields> k_order = {
    &Header::birth_us,
    &Header::offset_us,
    &Header::seen_us,
    &Header::slot_us,
    &Header::slot_rest,
    &Header::slot_allow,
    &Header::slot_cost,
    &Header::log_group,
    &Header::log_capacity,
    &Header::log_total,
    &Header::log_fill,
    &Header::last_start_us,
    &Header::paused_until_us,
    &Header::paused_by_hand,
    &Header::numbers,
    &Header::in_line,
    &Header::out,
    &Header::away,
    &Header::next_deadline_us,
    &Header::recent_total,
    &Header::starts_until_us,
    &Header::tickets_until_us,
    &Header::last_allow,
    &Header::last_period_us,
    &Header::last_burst,
    &Header::idle_until_us,
    &Header::reserved,
};

void put_little_endian(std::string& out, std::int64_t value) {
    auto bits = static_cast<std::uint64_t>(value);
    for (int i = 0; i < 8; ++i, bits >>= 8)
        out.push_back(static_cast<char>(bits & 0xFF));
}

std::int64_t get_little_endian(std::string_view bytes) {
    std::uint64_t bits = 0;
    for (std::size_t i = 8; i-- > 0;)
        bits = bits << 8 | static_cast<unsigned char>(bytes[i]);
    return static_cast<std::int64_t>(bits);
}

}  // namespace

std::optional<Slot> Header::slot_for(const Rate& rate) const {
    if (slot_allow == 0) return std::nullopt;
    if (slot_allow == rate.allow()) return Slot{slot_us, slot_rest};
    return Slot{slot_us + (slot_rest > 0 ? 1 : 0), 0};
}

void Header::take_slot(const Slot& slot, const Rate& rate, std::int64_t cost) {
    slot_us = slot.time_us;
    slot_rest = slot.rest;
    slot_allow = rate.allow();
    slot_cost = cost;
}

std::optional<Rate> Header::last_rate() const {
    if (last_allow == 0) return std::nullopt;
    const auto rate = Rate::make(last_allow, Duration{last_period_us}, last_burst);
    if (!rate) return std::nullopt;
    return *rate;
}

void Header::set_last_rate(const std::optional<Rate>& rate) {
    last_allow = rate ? rate->allow() : 0;
    last_period_us = rate ? rate->period().count() : 0;
    last_burst = rate ? rate->burst() : 0;
}

std::int64_t Header::matters_until_us() const {
    const bool tickets = in_line + out + away > 0;
    return std::max({starts_until_us, paused_until_us, tickets ? tickets_until_us : 0});
}

std::array<std::int64_t, Header::k_fields> fields_of(const Header& header) {
    std::array<std::int64_t, Header::k_fields> fields{};
    for (std::size_t i = 0; i < k_order.size(); ++i)
        fields[i] = header.*k_order[i];
    return fields;
}

std::string encode(const Header& header) {
    std::string bytes(k_tag, sizeof k_tag);
    bytes.push_back(Header::k_version);
    bytes.append(4, '\0');
    for (const auto field : k_order)
        put_little_endian(bytes, header.*field);
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
    for (std::size_t i = 0; i < k_order.size(); ++i)
        header.*k_order[i] = get_little_endian(bytes.substr(8 + 8 * i, 8));
    return header;
}

}  // namespace jobthrottle
