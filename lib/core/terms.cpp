// SPDX-License-Identifier: MIT
#include "core/terms.hpp"

#include <algorithm>

namespace jobthrottle {

Result<Terms> Terms::make(std::vector<Rate> rates, std::optional<std::int64_t> concurrency) {
    if (rates.size() > k_most_rates) {
        return usage_error(std::to_string(rates.size()) + " limits on one key: want at most " +
                           std::to_string(k_most_rates));
    }
    if (concurrency && (*concurrency < 1 || *concurrency > k_most_at_once))
        return usage_error(std::to_string(*concurrency) + " at once: want 1 to 1000000");
    if (rates.size() > 1) std::sort(rates.begin(), rates.end(), paces_before);
    for (std::size_t i = 0; i < rates.size(); ++i) {
        for (std::size_t j = i + 1; j < rates.size(); ++j) {
            if (rates[i].period() != rates[j].period()) continue;
            return usage_error(rates[i].text() + " and " + rates[j].text() +
                               " are of the same period: want one of them");
        }
    }
    Terms terms;
    terms.m_rates = rates;
    for (std::size_t i = 1; i < rates.size(); ++i)
        terms.m_rates[i] = rates[i].beside_pace();
    terms.m_given = std::move(rates);
    terms.m_concurrency = concurrency;
    return terms;
}

std::string Terms::text() const {
    std::string text;
    for (std::size_t i = 0; i < m_rates.size(); ++i) {
        if (i > 0) text += i + 1 == m_rates.size() ? " and " : ", ";
        const Rate& rate = m_rates[i];
        // Where another paces, the whole window at once is what is usual.
        const bool usual = i > 0 && rate.burst() == rate.allow();
        text += usual ? Rate::make(rate.allow(), rate.period())->text() : rate.text();
        if (i > 0 && !usual && rate.burst() == 1) text += ",burst=1";
    }
    if (m_concurrency) text += (text.empty() ? "" : ", ") + std::to_string(*m_concurrency) + " at once";
    return text;
}

Result<Terms> strictest(const Terms& a, const Terms& b) {
    std::vector<Rate> rates = a.given();
    for (const Rate& other : b.given()) {
        const auto same = std::find_if(rates.begin(), rates.end(),
                                       [&](const Rate& rate) { return rate.period() == other.period(); });
        if (same == rates.end()) {
            rates.push_back(other);
        } else {
            *same = strictest(*same, other);
        }
    }
    std::optional<std::int64_t> concurrency = a.concurrency() ? a.concurrency() : b.concurrency();
    if (a.concurrency() && b.concurrency()) concurrency = std::min(*a.concurrency(), *b.concurrency());
    return Terms::make(std::move(rates), concurrency);
}

}  // namespace jobthrottle
