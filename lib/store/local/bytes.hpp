// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/fields.hpp"

namespace jobthrottle::local {

// The key of one record, built without allocating: a letter, then numbers and text. Numbers are big-endian,
// signed ones with the sign flipped, so that records sort by them.
class RecordKey {
public:
    static constexpr std::size_t k_max_bytes = 511;  // what LMDB allows

    explicit RecordKey(char kind) { letter(kind); }

    RecordKey& letter(char c) {
        m_bytes[m_size++] = c;
        return *this;
    }
    RecordKey& id(std::uint64_t value) {
        for (int shift = 56; shift >= 0; shift -= 8)
            letter(static_cast<char>(value >> shift & 0xFF));
        return *this;
    }
    RecordKey& number(std::int64_t value) { return id(static_cast<std::uint64_t>(value) ^ k_sign); }
    RecordKey& text(std::string_view bytes) {  // REQUIRES: it fits
        std::memcpy(m_bytes.data() + m_size, bytes.data(), bytes.size());
        m_size += bytes.size();
        return *this;
    }

    std::string_view view() const { return {m_bytes.data(), m_size}; }
    operator std::string_view() const { return view(); }

    static std::uint64_t id_at(std::string_view key, std::size_t offset);  // REQUIRES: 8 bytes are there
    static std::int64_t number_at(std::string_view key, std::size_t offset) {
        return static_cast<std::int64_t>(id_at(key, offset) ^ k_sign);
    }

private:
    static constexpr std::uint64_t k_sign = std::uint64_t{1} << 63;
    std::array<char, k_max_bytes + 1> m_bytes;
    std::size_t m_size = 0;
};

// 64 bits over a record's key and payload: finds every change within one word of eight bytes, and any other
// but for one in 2^64. Not against an attacker: who may write the file may write anything.
std::uint64_t checksum(std::string_view key, std::string_view payload);
constexpr std::size_t k_checksum_bytes = 8;

}  // namespace jobthrottle::local
