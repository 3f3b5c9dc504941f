// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <vector>

#include "store/store.hpp"

namespace jobthrottle {

// Asks keys of one job that do not live together (slots of a Redis Cluster), so that no decision covers them
// all. Each key is looked at first, its place kept; only when all would let the job start are the starts
// taken, always in the order of the keys, and where one refuses after all those already taken are given back,
// with their places. So no job holds a start while it waits, whatever the order it names its keys in, and
// none loses its turn to jobs that need fewer keys.
//
// `store_of` gives the store that a key lives in. Errors: of the first call that fails; what was taken by
// then is given back where that can be done.
using StoreOf = std::function<Store&(const Key&)>;
Result<std::vector<Answer>> ask_one_by_one(const std::vector<Asked>&, const StoreOf& store_of);

}  // namespace jobthrottle
