// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/decide.hpp"
#include "core/key.hpp"
#include "output/inspect.hpp"

// What --json prints. Each is one JSON text without a newline at its end; valid UTF-8 whatever the key holds.
// Times are whole numbers and carry their unit in the name; `_ms` are rounded up, so that nothing is promised
// too early. Only `every_ms` of a limit may have a fraction, for a period that is no whole millisecond.
//
// A pause without an end: "paused_for_ms" is null and "paused_forever" true; times that depend on its end
// ("available_in_ms", "starts_in_ms", "wait_ms") are null, too. Not paused: 0 and false. Where all places of
// a concurrency are taken nobody knows when one is free: "available_in_ms" and "starts_in_ms" are null then.
//
// A key that is no UTF-8 stands escaped in "key" and exactly in "key_b64" (RFC 4648).
namespace jobthrottle {

// {"key", "known": true, "store", "shared",
//  "limits": [{"allow", "every_ms", "burst", "registered", "starts", "remaining"}],
//  "registered_by", "registered_at_s", "starts_in_window", "remaining", "concurrency", "places", "leases",
//  "limited", "available_in_ms", "paused_for_ms", "paused_forever", "paused_by_hand", "pause", "waiting",
//  "waiters", "late", "started", "last_start_ago_ms", "now_s"}
//   limits     the first paces; "starts" are those in its window that ends now, "remaining" what that has
//   room
//              for; empty for a key with no rate: "remaining" is null then
//   starts_in_window, remaining   of the first limit, and of the one that has the least
//   concurrency, places           how many may run at once, null: any number; and how many do
//   leases     attempts under way, by start: {"job", "where", "age_ms", "left_ms" (of the lease, below 0
//   where
//              it is over), "renewed_ago_ms", "held" (false: it ran out), "place" (it takes one of the
//              places), "cost"}; their tokens are told to nobody
//   limited    a job that came now would have to wait
//   pause      of the last pause, in force or not, or null:
//              {"summary", "line", "stream", "job", "who", "reason", "at_s"}
//   waiting    how many are in line; "late" counts those who did not come back when they were to
//   waiters    in line by place, then the late: {"place" (null: late), "job", "where", "cost",
//              "waited_ms", "starts_in_ms" (null: late), "asks_in_ms"}
// A key that is not known: {"key", "known": false, "store", "shared", "nearest": [...]}.
std::string inspect_json(const InspectView&);

// An array, one element per line: inspect_json's members of a key without "store", "shared", "leases",
// "waiters" and "now_s", in the order of keys_text.
std::string keys_json(const std::vector<NamedReport>&);

struct AdmitView {
    Key key;
    bool admitted = false;
    bool unthrottled = false;  // admitted only because the store is away and the policy is `open`
    Duration wait{};           // until a start is possible; zero when admitted
    Duration waited{};         // by this job for the throttle
    std::optional<Answer> answer;
    std::string token = {};  // of the lease that was taken
};
// {"key", "admitted", "unthrottled", "wait_ms", "waited_ms", "why" ("rate", "paused", "line", "lease",
// "crowded", or null when admitted), "ahead", "token" (null: no lease was taken)}. The key is the first that
// was given, or the one that holds the job up. For a place that others hold "wait_ms" tells when it is worth
// asking again.
std::string admit_json(const AdmitView&);

// {"key", "paused_for_ms", "paused_forever", "changed"}
std::string pause_json(const Key&, const PauseAnswer&);

}  // namespace jobthrottle
