// SPDX-License-Identifier: MIT
#pragma once

namespace jobthrottle {

// Standard input, output and error that are closed are taken by a placeholder, so that no descriptor of ours
// lands there. A placeholder behaves as closed (reading and writing fail with EBADF), and is closed for a
// command. To be called first of all in main; calling it again does nothing.
void reserve_standard_descriptors();

// Whether `fd` is closed, or a placeholder.
bool is_closed(int fd);

}  // namespace jobthrottle
