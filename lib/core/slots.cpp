// SPDX-License-Identifier: MIT
#include "core/slots.hpp"

#include <algorithm>
#include <cmath>

namespace jobthrottle {

Slot slot_after(const Slot& from, std::int64_t count, const Rate& rate) {
    const std::int64_t q = rate.spacing_us();
    const std::int64_t m = rate.spacing_rest();
    if (count > k_exact_slots) {
        const double far = static_cast<double>(count) * static_cast<double>(q + (m > 0 ? 1 : 0));
        const double bounded = std::min(far, static_cast<double>(k_far_us));
        return {std::min(from.rounded_up_us() + static_cast<std::int64_t>(bounded), k_forever_us), 0};
    }
    // rest + count * m < 257 * 366 d in microseconds < 2^53: exact in a double, too.
    const std::int64_t over = from.rest + count * m;
    const std::int64_t time_us = from.time_us + count * q + over / rate.allow();
    if (time_us >= k_forever_us) return {k_forever_us, 0};
    return {time_us, over % rate.allow()};
}

Slot slot_before(std::int64_t now_us, std::int64_t count, const Rate& rate) {
    const std::int64_t q = rate.spacing_us();
    const std::int64_t m = rate.spacing_rest();
    if (count > k_exact_slots) {
        const double over = std::floor(static_cast<double>(count) * static_cast<double>(m) /
                                       static_cast<double>(rate.allow()));
        return {now_us - count * q - static_cast<std::int64_t>(over), 0};
    }
    const std::int64_t over = count * m;
    const std::int64_t rounded = (over + rate.allow() - 1) / rate.allow();
    return {now_us - count * q - rounded, rounded * rate.allow() - over};
}

}  // namespace jobthrottle
