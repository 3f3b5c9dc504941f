// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "base/result.hpp"

namespace jobthrottle {

// Names what is shared: one provider account, one API token. 1 to 480 bytes of any kind; a key that exists is
// valid. Not a string, so that a prefix, a token or a pattern cannot be passed in its place.
class Key {
public:
    static constexpr std::size_t k_max_bytes = 480;

    // Error (usage): empty, or longer than k_max_bytes.
    static Result<Key> make(std::string bytes);

    const std::string& bytes() const { return m_bytes; }
    // For messages: control characters and invalid UTF-8 escaped.
    std::string shown() const;

    friend bool operator==(const Key& a, const Key& b) { return a.m_bytes == b.m_bytes; }
    friend bool operator<(const Key& a, const Key& b) { return a.m_bytes < b.m_bytes; }

private:
    explicit Key(std::string bytes) : m_bytes(std::move(bytes)) {}
    std::string m_bytes;
};

}  // namespace jobthrottle
