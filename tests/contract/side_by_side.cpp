// SPDX-License-Identifier: MIT
#include "contract/side_by_side.hpp"

namespace jobthrottle::test {

namespace {

std::string differ(const char* one, const std::string& a, const char* other, const std::string& b) {
    if (a == b) return {};
    return std::string(one) + ": " + a + "\n" + other + ": " + b + "\n";
}

}  // namespace

void SideBySide::set_clock(std::int64_t us) {
    for (StoreSite* site : {&m_local_site, &m_redis_site, &m_like_local_site, &m_like_redis_site})
        site->set_clock(us);
}

std::string SideBySide::compare(const Call& call) {
    const std::string local = call(m_local), redis = call(m_redis);
    const std::string like_local = call(m_like_local), like_redis = call(m_like_redis);
    const std::string from_memory =
        differ("local", local, "memory", like_local) + differ("redis", redis, "memory", like_redis);
    return from_memory.empty() && m_even ? differ("local", local, "redis", redis) : from_memory;
}

}  // namespace jobthrottle::test
