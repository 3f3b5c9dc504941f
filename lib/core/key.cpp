// SPDX-License-Identifier: MIT
#include "core/key.hpp"

#include "base/text.hpp"

namespace jobthrottle {

Result<Key> Key::make(std::string bytes) {
    if (bytes.empty()) return usage_error("an empty key: want 1 to 480 bytes, for example github or sms:42");
    if (bytes.size() > k_max_bytes) {
        return usage_error("the key '" + escape_for_display(bytes.substr(0, 20)) + "...' has " +
                           std::to_string(bytes.size()) +
                           " bytes: want 1 to 480, for example github or sms:42");
    }
    return Key(std::move(bytes));
}

std::string Key::shown() const {
    return escape_for_display(m_bytes);
}

}  // namespace jobthrottle
