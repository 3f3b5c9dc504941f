// SPDX-License-Identifier: MIT
// How LMDB 0.9 lays out a file: pages of one size, the first two with a Meta, of which the one of the higher
// transaction counts. A page of a tree is a head, the offsets of its nodes (16 bits each), free room, nodes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace jobthrottle::local::layout {

using Word = std::size_t;  // LMDB's numbers of pages and of transactions
constexpr Word k_no_page = std::numeric_limits<Word>::max();

struct PageHead {
    Word number;
    std::uint16_t unused, kind;
    std::uint16_t lower, upper;  // of the free room; together the number of pages of a long value
};
constexpr std::uint16_t k_branch = 1, k_leaf = 2, k_long_value = 4, k_meta = 8;

struct Tree {
    std::uint32_t page_bytes;  // of the first tree only
    std::uint16_t flags, depth;
    Word branches, leaves, long_values, entries, root;
};
struct Meta {
    std::uint32_t magic, version;
    Word address, map_bytes;
    std::array<Tree, 2> trees;  // the free pages, then the records
    Word last_page, transaction;
};
constexpr std::uint32_t k_magic = 0xBEEFC0DE, k_version = 1;

struct NodeHead {
    std::array<std::uint16_t, 2> size;  // of the value; in a branch a part of the page's number
    std::uint16_t flags;                // in a branch the rest of it
    std::uint16_t key_bytes;
};
constexpr std::uint16_t k_is_long = 1;

inline Word word_of(const NodeHead& head) {
    constexpr bool k_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    return Word{head.size[k_little ? 0 : 1]} | Word{head.size[k_little ? 1 : 0]} << 16;
}

}  // namespace jobthrottle::local::layout
