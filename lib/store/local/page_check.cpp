// SPDX-License-Identifier: MIT
#include "store/local/page_check.hpp"

#include <lmdb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/local/page_layout.hpp"

namespace jobthrottle::local {

namespace {

using namespace layout;

static_assert(MDB_VERSION_MAJOR == 0, "layout is that of LMDB 0.9");

constexpr std::uint16_t k_integer_keys = MDB_INTEGERKEY;
constexpr std::uint16_t k_never_set = MDB_FIXEDMAP | MDB_REVERSEKEY | MDB_DUPSORT | MDB_DUPFIXED;
constexpr std::uint16_t k_deepest = 32;
constexpr Word k_most_map_bytes = sizeof(Word) > 4 ? Word{1} << 40 : Word{1} << 31;
constexpr std::size_t k_longest_key = 511;

template <typename T>
T value_at(std::string_view bytes, std::size_t offset) {  // REQUIRES: it is there
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

constexpr std::size_t even(std::size_t size) {
    return size + (size & 1);
}

struct Node {
    std::string_view key;
    std::string_view value;      // of a leaf, if it is not long
    Word page = 0;               // below a branch, or of a long value
    std::size_t long_bytes = 0;  // of a long value
    bool is_long = false;
};

class Check {
public:
    explicit Check(int fd) : m_fd(fd) {}
    Pages run();

private:
    Pages read_metas();
    bool meta_is_sound() const;
    bool trees_are_sound();
    std::optional<std::string> page_at(Word number, std::uint16_t kind);
    bool claim(Word first, Word count);

    // The keys under a page lie in [low, high); nothing: no bound.
    using Bound = std::optional<std::string>;
    bool walk(Word number, std::size_t depth, const Bound& low, const Bound& high);
    bool leaf_is_sound(const std::vector<Node>& nodes, const Bound& low, const Bound& high);
    bool read_long_value(Word number, std::size_t bytes, std::string& value);
    bool take_free_list(std::string_view key, std::string_view list);
    std::optional<std::vector<Node>> nodes_of(std::string_view page, bool branch) const;
    std::optional<Node> node_at(std::string_view page, std::size_t offset, bool branch,
                                std::size_t& size) const;
    bool is_before(std::string_view a, std::string_view b) const;

    int m_fd;
    std::size_t m_page_bytes = 0;
    Word m_pages = 0;  // of the file
    Meta m_meta{};
    std::vector<bool> m_claimed;
    bool m_free_tree = false;  // under way
    Word m_entries = 0;
};

Pages Check::run() {
    const Pages metas = read_metas();
    if (metas != Pages::sound) return metas;
    return meta_is_sound() && trees_are_sound() ? Pages::sound : Pages::torn;
}

Pages Check::read_metas() {
    std::array<Meta, 2> metas{};
    for (std::size_t i = 0; i < 2; ++i) {
        std::array<char, sizeof(PageHead) + sizeof(Meta)> bytes{};
        const auto offset = static_cast<off_t>(i * m_page_bytes);
        if (pread(m_fd, bytes.data(), bytes.size(), offset) != static_cast<ssize_t>(bytes.size()))
            return Pages::torn;
        const std::string_view text(bytes.data(), bytes.size());
        metas[i] = value_at<Meta>(text, sizeof(PageHead));
        if (metas[i].magic != k_magic || value_at<PageHead>(text, 0).kind != k_meta) return Pages::torn;
        const std::size_t page_bytes = metas[i].trees[0].page_bytes;
        if (i == 0) m_page_bytes = page_bytes;
        if (page_bytes != m_page_bytes || page_bytes < 512 || page_bytes > 65536 ||
            (page_bytes & (page_bytes - 1)) != 0)
            return metas[i].version == k_version ? Pages::torn : Pages::foreign;
        if (metas[i].map_bytes > k_most_map_bytes) return Pages::torn;
    }
    if (metas[0].version != metas[1].version) return Pages::torn;
    if (metas[0].version != k_version) return Pages::foreign;
    m_meta = metas[metas[0].transaction < metas[1].transaction ? 1 : 0];
    return Pages::sound;
}

bool Check::meta_is_sound() const {
    const auto& [free_pages, records] = m_meta.trees;
    return m_meta.map_bytes / m_page_bytes > m_meta.last_page && m_meta.last_page >= 1 &&
           (free_pages.flags & (k_never_set | k_integer_keys)) == k_integer_keys && records.flags == 0 &&
           free_pages.depth <= k_deepest && records.depth <= k_deepest;
}

bool Check::trees_are_sound() {
    struct stat file {};
    if (fstat(m_fd, &file) != 0) return false;
    m_pages = std::min(static_cast<Word>(file.st_size) / m_page_bytes, m_meta.last_page + 1);
    m_claimed.assign(m_meta.last_page + 1, false);
    if (!claim(0, 2)) return false;
    for (std::size_t i = 0; i < 2; ++i) {
        const Tree& tree = m_meta.trees[i];
        m_free_tree = i == 0;
        m_entries = 0;
        const bool sound = tree.root == k_no_page ? tree.depth == 0
                                                  : walk(tree.root, tree.depth, std::nullopt, std::nullopt);
        if (!sound || (!m_free_tree && m_entries != tree.entries)) return false;
    }
    return true;
}

bool Check::claim(Word first, Word count) {
    if (first > m_meta.last_page || count > m_meta.last_page + 1 - first) return false;
    for (Word i = first; i < first + count; ++i) {
        if (m_claimed[i]) return false;
        m_claimed[i] = true;
    }
    return true;
}

// A page that nothing else uses, if it is what it should be.
std::optional<std::string> Check::page_at(Word number, std::uint16_t kind) {
    if (number >= m_pages || !claim(number, 1)) return std::nullopt;
    std::string page(m_page_bytes, '\0');
    const auto offset = static_cast<off_t>(number * m_page_bytes);
    if (pread(m_fd, page.data(), page.size(), offset) != static_cast<ssize_t>(page.size()))
        return std::nullopt;
    const auto head = value_at<PageHead>(page, 0);
    if (head.number != number || head.kind != kind) return std::nullopt;
    return page;
}

bool Check::is_before(std::string_view a, std::string_view b) const {
    if (!m_free_tree) return a < b;
    return value_at<Word>(a, 0) < value_at<Word>(b, 0);
}

bool Check::walk(Word number, std::size_t depth, const Bound& low, const Bound& high) {
    if (depth == 0) return false;
    const bool branch = depth > 1;
    const auto page = page_at(number, branch ? k_branch : k_leaf);
    if (!page) return false;
    const auto nodes = nodes_of(*page, branch);
    if (!nodes) return false;
    if (!branch) return leaf_is_sound(*nodes, low, high);
    // The key of the first node is not looked at: what lies below it begins at the page's own bound.
    Bound from = low;
    for (std::size_t i = 0; i < nodes->size(); ++i) {
        Bound to = high;
        if (i + 1 < nodes->size()) to = (*nodes)[i + 1].key;
        if (from && to && !is_before(*from, *to)) return false;
        if (!walk((*nodes)[i].page, depth - 1, from, to)) return false;
        from = to;
    }
    return true;
}

bool Check::leaf_is_sound(const std::vector<Node>& nodes, const Bound& low, const Bound& high) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const Node& node = nodes[i];
        if (i > 0 && !is_before(nodes[i - 1].key, node.key)) return false;
        if ((low && is_before(node.key, *low)) || (high && !is_before(node.key, *high))) return false;
        std::string long_value;
        if (node.is_long && !read_long_value(node.page, node.long_bytes, long_value)) return false;
        if (m_free_tree && !take_free_list(node.key, node.is_long ? long_value : node.value)) return false;
    }
    m_entries += nodes.size();
    return true;
}

// The nodes in the order of their keys, if they lie in the page's used part and do not overlap.
std::optional<std::vector<Node>> Check::nodes_of(std::string_view page, bool branch) const {
    const auto head = value_at<PageHead>(page, 0);
    if (head.lower < sizeof(PageHead) || (head.lower & 1) != 0 || head.lower > head.upper ||
        head.upper > page.size())
        return std::nullopt;
    const std::size_t count = (head.lower - sizeof(PageHead)) / 2;
    if (count < (branch && !m_free_tree ? 2 : 1)) return std::nullopt;
    std::vector<Node> nodes;
    std::vector<std::pair<std::size_t, std::size_t>> extents;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t offset = value_at<std::uint16_t>(page, sizeof(PageHead) + 2 * i);
        if (offset < head.upper) return std::nullopt;
        std::size_t size = 0;
        auto node = node_at(page, offset, branch, size);
        if (!node) return std::nullopt;
        const bool has_key = !branch || i > 0;
        const bool fits = m_free_tree ? node->key.size() == sizeof(Word) : !node->key.empty();
        if (has_key && !fits) return std::nullopt;
        nodes.push_back(*node);
        extents.emplace_back(offset, size);
    }
    std::sort(extents.begin(), extents.end());
    for (std::size_t i = 1; i < extents.size(); ++i) {
        if (extents[i - 1].first + extents[i - 1].second > extents[i].first) return std::nullopt;
    }
    return nodes;
}

std::optional<Node> Check::node_at(std::string_view page, std::size_t offset, bool branch,
                                   std::size_t& size) const {
    if ((offset & 1) != 0 || offset + sizeof(NodeHead) > page.size()) return std::nullopt;
    const auto head = value_at<NodeHead>(page, offset);
    const std::size_t key_at = offset + sizeof(NodeHead);
    if (head.key_bytes > k_longest_key || key_at + head.key_bytes > page.size()) return std::nullopt;
    Node node;
    node.key = page.substr(key_at, head.key_bytes);
    const std::size_t value_starts = key_at + head.key_bytes;
    if (branch) {
        node.page = word_of(head);
        if constexpr (sizeof(Word) > 4) node.page |= Word{head.flags} << 32;
        size = even(sizeof(NodeHead) + head.key_bytes);
    } else {
        if ((head.flags & ~k_is_long) != 0) return std::nullopt;
        node.is_long = head.flags == k_is_long;
        const Word value_bytes = word_of(head);
        const std::size_t here = node.is_long ? sizeof(Word) : value_bytes;
        if (here > page.size() - value_starts) return std::nullopt;
        if (node.is_long) {
            node.page = value_at<Word>(page, value_starts);
            node.long_bytes = value_bytes;
        } else {
            node.value = page.substr(value_starts, value_bytes);
        }
        size = even(sizeof(NodeHead) + head.key_bytes + here);
    }
    return offset + size <= page.size() ? std::optional(node) : std::nullopt;
}

bool Check::read_long_value(Word number, std::size_t bytes, std::string& value) {
    const auto first = page_at(number, k_long_value);
    if (!first) return false;
    const Word pages = value_at<std::uint32_t>(*first, offsetof(PageHead, lower));
    if (pages == 0 || pages > m_pages - number || !claim(number + 1, pages - 1)) return false;
    if (bytes > pages * m_page_bytes - sizeof(PageHead)) return false;
    if (!m_free_tree) return true;
    value.resize(bytes);
    const auto offset = static_cast<off_t>(number * m_page_bytes + sizeof(PageHead));
    return pread(m_fd, value.data(), bytes, offset) == static_cast<ssize_t>(bytes);
}

// A list as LMDB writes it: how many, then the pages from the highest down; some room may follow.
bool Check::take_free_list(std::string_view key, std::string_view list) {
    if (value_at<Word>(key, 0) > m_meta.transaction || list.size() < sizeof(Word)) return false;
    const Word count = value_at<Word>(list, 0);
    if (count > list.size() / sizeof(Word) - 1) return false;
    Word above = m_meta.last_page + 1;
    for (std::size_t i = 1; i <= count; ++i) {
        const Word page = value_at<Word>(list, i * sizeof(Word));
        if (page >= above || !claim(page, 1)) return false;
        above = page;
    }
    return true;
}

}  // namespace

Pages check_pages(int fd) {
    return Check(fd).run();
}

}  // namespace jobthrottle::local
