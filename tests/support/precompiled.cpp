// SPDX-License-Identifier: MIT
// Owns the precompiled test header, and nothing else.
