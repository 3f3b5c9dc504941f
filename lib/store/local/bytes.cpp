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

}  // namespace

std::uint64_t RecordKey::id_at(std::string_view key, std::size_t offset) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i)
        value = value << 8 | static_cast<unsigned char>(key[offset + i]);
    return value;
}

std::uint64_t checksum(std::string_view key, std::string_view payload) {
    return mixed(mixed(0x6A6F627468726F74U, key), payload);
}

}  // namespace jobthrottle::local
