// SPDX-License-Identifier: MIT
// The local store and Redis, driven alike and compared with memory.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "contract/store_suite_support.hpp"

namespace jobthrottle::test {

// The stores have come-back times of their own, which move their waiters apart. So memory is driven twice,
// with the time of each of the others. Where a test sees to it that the times make no difference, and says so
// by `even`, all have to say the same.
class SideBySide {
public:
    explicit SideBySide(bool even) : m_even(even) {}

    // On the clock of all of them.
    std::int64_t clock_us() const { return m_local_site.clock_us(); }
    void set_clock(std::int64_t us);

    // Makes the call to local, redis, and memory like each, in this order. It gives a text of what the store
    // said; returned is what differs, or nothing.
    using Call = std::function<std::string(Store&)>;
    std::string compare(const Call& call);

    Store& local() { return m_local; }
    Store& redis() { return m_redis; }

private:
    bool m_even;
    StoreSite m_local_site{StoreKind::local}, m_redis_site{StoreKind::redis};
    StoreSite m_like_local_site{StoreKind::memory, m_local_site.come_back()};
    StoreSite m_like_redis_site{StoreKind::memory, m_redis_site.come_back()};
    Store &m_local = m_local_site.open(), &m_redis = m_redis_site.open();
    Store &m_like_local = m_like_local_site.open(), &m_like_redis = m_like_redis_site.open();
};

}  // namespace jobthrottle::test
