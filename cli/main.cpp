// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include "cli/args.hpp"
#include "cli/commands.hpp"
#include "cli/machine.hpp"
#include "cli/print.hpp"
#include "process/standard_descriptors.hpp"

int main(int argc, char** argv) {
    using namespace jobthrottle;
    reserve_standard_descriptors();
    map_large_memory();
    const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    const Surroundings surroundings{[](const char* name) -> const char* { return std::getenv(name); },
                                    wall_now(), utc_offset_s, std::min(80, output_width())};
    const auto options = parse_args(words, surroundings);
    if (!options) return exit_with(options.error());
    return std::visit([](const auto& chosen) { return execute(chosen); }, *options);
}
