// SPDX-License-Identifier: MIT
#include "core/slots.hpp"

#include <algorithm>
#include <cmath>

namespace jobthrottle {

namespace {

double product(std::int64_t a, std::int64_t b) {
    return static_cast<double>(a) * static_cast<double>(b);
}

bool is_exact(std::int64_t count, const Rate& rate) {
    if (count <= k_exact_slots) return true;  // 257 * 366 d in microseconds < 2^53
    return product(count, rate.spacing_us()) <= static_cast<double>(k_far_us) &&
           product(count, rate.spacing_rest()) <= static_cast<double>(k_far_us);
}

}  // namespace

Slot slot_after(const Slot& from, std::int64_t count, const Rate& rate) {
    const std::int64_t q = rate.spacing_us();
    const std::int64_t m = rate.spacing_rest();
    if (!is_exact(count, rate)) {
        const double bounded = std::min(product(count, q + (m > 0 ? 1 : 0)), static_cast<double>(k_far_us));
        return {std::min(from.rounded_up_us() + static_cast<std::int64_t>(bounded), k_forever_us), 0};
    }
    const std::int64_t over = from.rest + count * m;
    const std::int64_t time_us = from.time_us + count * q + over / rate.allow();
    if (time_us >= k_forever_us) return {k_forever_us, 0};
    return {time_us, over % rate.allow()};
}

Slot slot_before(std::int64_t now_us, std::int64_t count, const Rate& rate) {
    const std::int64_t q = rate.spacing_us();
    const std::int64_t m = rate.spacing_rest();
    if (count > k_exact_slots) {
        const double over = std::floor(product(count, m) / static_cast<double>(rate.allow()));
        return {now_us - count * q - static_cast<std::int64_t>(over), 0};
    }
    const std::int64_t over = count * m;
    const std::int64_t rounded = (over + rate.allow() - 1) / rate.allow();
    return {now_us - count * q - rounded, rounded * rate.allow() - over};
}

Slot slot_moved_back(const Slot& from, std::int64_t count, const Rate& rate) {
    const std::int64_t q = rate.spacing_us();
    const std::int64_t m = rate.spacing_rest();
    if (!is_exact(count, rate)) {
        const double back = std::min(product(count, q), static_cast<double>(k_far_us));
        return {from.rounded_up_us() - static_cast<std::int64_t>(back), 0};
    }
    const std::int64_t over = count * m - from.rest;
    if (over <= 0) return {from.time_us - count * q, -over};
    const std::int64_t rounded = (over + rate.allow() - 1) / rate.allow();
    return {from.time_us - count * q - rounded, rounded * rate.allow() - over};
}

}  // namespace jobthrottle
