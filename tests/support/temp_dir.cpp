// SPDX-License-Identifier: MIT
#include "support/temp_dir.hpp"

#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace jobthrottle::test {
namespace {

// A Unix socket's path may have 107 bytes; what stands in a TempDir needs some of them.
constexpr std::size_t k_longest_parent = 60;

bool is_local_folder(const std::string& path) {
    // NFS, SMB, CIFS, SMB2, 9p, FUSE
    constexpr std::array<std::uint32_t, 6> k_shared = {0x6969,     0x517b,     0xff534d42,
                                                       0xfe534d42, 0x01021997, 0x65735546};
    struct statfs info {};
    if (statfs(path.c_str(), &info) != 0) return false;
    for (const std::uint32_t type : k_shared) {
        if (static_cast<std::uint32_t>(info.f_type) == type) return false;
    }
    return true;
}

std::string make_folder() {
    std::vector<std::string> parents;
    if (const char* chosen = std::getenv("TMPDIR"); chosen != nullptr && *chosen == '/') {
        parents.emplace_back(chosen);
    }
    parents.insert(parents.end(), {"/tmp", "/var/tmp", "/dev/shm"});
    for (const std::string& parent : parents) {
        if (parent.size() > k_longest_parent || !is_local_folder(parent)) continue;
        std::string path = parent + "/jt-XXXXXX";
        if (mkdtemp(path.data()) != nullptr) return path;
    }
    throw std::runtime_error("no local folder for temporary files: tried TMPDIR, /tmp, /var/tmp, /dev/shm");
}

// A test may have left folders that their owner may not write.
void open_folders(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    fs::permissions(path, fs::perms::owner_all, fs::perm_options::add, ignored);
    for (fs::recursive_directory_iterator it(path, ignored), end; !ignored && it != end;
         it.increment(ignored)) {
        if (!it->is_directory(ignored) || it->is_symlink(ignored)) continue;
        fs::permissions(it->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
    }
}

}  // namespace

TempDir::TempDir() : m_path(make_folder()) {}

TempDir::~TempDir() {
    std::error_code ignored;
    open_folders(m_path);
    // A program that a test killed may still be making its last file.
    for (int round = 0; round < 3; ++round) {
        std::filesystem::remove_all(m_path, ignored);
        if (!ignored) return;
    }
}

std::string read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + path);
    std::ostringstream content;
    content << in.rdbuf();
    return content.str();
}

void write_file(const std::string& path, std::string_view content) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.close();
    if (!out) throw std::runtime_error("cannot write " + path);
}

}  // namespace jobthrottle::test
