// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "base/time.hpp"

namespace jobthrottle {

// When bytes were read or a command ended: the boot clock for how long ago, the wall clock for dates.
struct Moment {
    BootTime boot;
    WallTime wall;
};

// The streams that are read. Each is judged on its own. `both` is standard output and error of a command for
// which they are one file (2>&1): what counts on either counts there.
enum class ScannedStream { out, err, both };

// What a verdict rests on. All text is raw bytes of the command, to be escaped by whoever prints it.
struct Evidence {
    enum class Source { out, err, both, exit_code };
    Source source = Source::out;
    std::string line;  // the line that was read, at most 200 bytes, colours taken out; empty for an exit code
    std::string reason;  // "HTTP 429, Retry-After: 1800", "HTTP 429, said by curl", "exit code 75"
};

// Whether an attempt was refused, and what follows for its key.
struct Verdict {
    // The attempt does not count as run and may be run again.
    bool refused = false;
    // The key is to be paused this long from the end of the attempt, already clamped. Present whenever
    // `refused`, and besides for a command that exited 0 and printed a bare Retry-After as its last line.
    std::optional<Duration> pause;
    // The delay as it was asked, counted from when it was read, not clamped; nothing where none was given.
    std::optional<Duration> asked;
    // "Retry-After: soon": the field that could not be read, because of which `pause` is the default. Worth a
    // warning. Empty otherwise.
    std::string ill_formed;
    Evidence evidence;  // of the delay that won; meaningful only with `pause`
};

}  // namespace jobthrottle
