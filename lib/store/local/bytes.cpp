// SPDX-License-Identifier: MIT
#include "store/local/bytes.hpp"

namespace jobthrottle::local {

namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
    return hash ^ hash >> 29;
}

std::uint64_t mixed(std::uint64_t hash, std::string_view bytes) {
    hash = mixed(hash, bytes.size());
    for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data(), 8);
        hash = mixed(hash, word);
    }
    std::uint64_t rest = 0;
    if (!bytes.empty()) std::memcpy(&rest, bytes.data(), bytes.size());
    return mixed(hash, rest);
}

std::array<char, 8> little_endian(std::uint64_t bits) {
    std::array<char, 8> raw{};
    for (std::size_t i = 0; i < 8; ++i)
        raw[i] = static_cast<char>(bits >> 8 * i & 0xFF);
    return raw;
}

}  // namespace

std::uint64_t RecordKey::id_at(std::string_view key, std::size_t offset) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i)
        value = value << 8 | static_cast<unsigned char>(key[offset + i]);
    return value;
}

void put_field(std::string& out, std::int64_t value, std::size_t bytes) {
    const auto bits = little_endian(static_cast<std::uint64_t>(value));
    out.append(bits.data(), bytes);
}

std::int64_t field_at(std::string_view bytes, std::size_t offset, std::size_t width) {
    std::array<char, 8> raw{};
    std::memcpy(raw.data(), bytes.data() + offset, width);
    std::uint64_t bits = 0;
    for (std::size_t i = 8; i-- > 0;)
        bits = bits << 8 | static_cast<unsigned char>(raw[i]);
    return static_cast<std::int64_t>(bits);
}

std::uint64_t checksum(std::string_view key, std::string_view payload) {
    return mixed(mixed(0x6A6F627468726F74U, key), payload);
}

}  // namespace jobthrottle::local
