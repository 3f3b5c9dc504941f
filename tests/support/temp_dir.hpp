// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace jobthrottle::test {

// A new folder on a local file system (mode 0700, a short path so that a socket fits in it), removed with all
// that is in it at the end, whatever its rights. Throws std::runtime_error when none can be made.
class TempDir {
public:
    TempDir();
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;
    ~TempDir();

    const std::string& path() const { return m_path; }
    std::string file(std::string_view name) const { return m_path + "/" + std::string(name); }

private:
    std::string m_path;
};

// The whole content of a file; throws std::runtime_error when it cannot be read.
std::string read_file(const std::string& path);
// Makes or replaces the file; throws std::runtime_error when that fails.
void write_file(const std::string& path, std::string_view content);

}  // namespace jobthrottle::test
