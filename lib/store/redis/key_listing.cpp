// SPDX-License-Identifier: MIT
#include "store/redis/key_listing.hpp"

#include <set>
#include <utility>

#include "store/glob.hpp"
#include "store/redis/key_names.hpp"
#include "store/redis/scripts.hpp"
#include "store/redis/server_error.hpp"

namespace jobthrottle {

namespace {

constexpr std::size_t k_inspected_at_once = 64;
constexpr const char* k_scanned_at_once = "1000";

Error not_understood() {
    return refused_error("its answer is not understood");
}

struct Listing {
    std::vector<KeySummary> found;
    std::vector<Key> left_out;
};

Result<std::set<Key>> find_keys(ScriptRunner& runner, const std::string& prefix, const std::string& pattern) {
    std::set<Key> found;
    std::string cursor = "0";
    do {
        const Command scan = {"SCAN", cursor, "MATCH", names_pattern(prefix), "COUNT", k_scanned_at_once};
        auto replies = runner.run({scan});
        if (!replies && runner.may_repeat()) replies = runner.run({scan});
        if (!replies) return replies.error();
        const Reply& reply = replies->front();
        if (reply.kind == Reply::Kind::error) return runner.error_of(reply);
        if (reply.items.size() != 2) return not_understood();
        cursor = reply.items[0].text;
        for (const Reply& name : reply.items[1].items) {
            const auto key = key_of_name(prefix, name.text);
            if (key && glob_matches(pattern, key->bytes())) found.insert(*key);
        }
    } while (cursor != "0");
    return found;
}

// What another application or a newer version has put beside our keys is none of them, nor is one that is
// damaged: they do not keep the others from being listed.
Result<void> summarize(ScriptRunner& runner, const ScriptSetting& setting, const std::vector<Key>& keys,
                       Listing& listing) {
    std::vector<Command> words;
    words.reserve(keys.size());
    for (const Key& key : keys)
        words.push_back(inspect_words(setting, key));
    auto replies = runner.call(script_inspect(), words);
    if (!replies && runner.may_repeat()) replies = runner.call(script_inspect(), words);
    if (!replies) return replies.error();
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const Reply& reply = (*replies)[i];
        if (reply.kind == Reply::Kind::error) {
            if (error_code(reply.text) != "WRONGTYPE") return runner.error_of(reply);
            listing.left_out.push_back(keys[i]);
            continue;
        }
        if (const auto fault = fault_of(reply, {&keys[i]}, setting)) return *fault;
        const auto inspected = inspected_of(reply);
        if (!inspected) return not_understood();
        auto report = report_of(keys[i], *inspected, setting.prefix);
        if (!report) listing.left_out.push_back(keys[i]);
        if (report && report->known) listing.found.push_back({keys[i], std::move(*report)});
    }
    return {};
}

std::string left_out_text(const std::vector<Key>& keys) {
    const std::string more = keys.size() > 1 ? " and " + std::to_string(keys.size() - 1) + " more" : "";
    return "not listed: '" + keys.front().shown() + "'" + more +
           ", where what is stored is damaged, of a newer jobthrottle or of another application; inspect "
           "says which";
}

}  // namespace

Result<KeyReport> report_of(const Key& key, const Inspected& inspected, const std::string& prefix) {
    auto unpacked = unpack(inspected.records);
    if (unpacked.problem != RecordsProblem::none) return records_error(unpacked.problem, key, prefix);
    return report_on(std::move(unpacked.records), inspected.now_us);
}

Result<std::vector<KeySummary>> list_keys(ScriptRunner& runner, const ScriptSetting& setting,
                                          const std::string& pattern,
                                          const std::function<void(const std::string&)>& notice) {
    const auto names = find_keys(runner, setting.prefix, pattern);
    if (!names) return names.error();
    Listing listing;
    std::vector<Key> batch;
    for (auto next = names->begin(); next != names->end();) {
        batch.push_back(*next++);
        if (batch.size() < k_inspected_at_once && next != names->end()) continue;
        if (const auto done = summarize(runner, setting, batch, listing); !done) return done.error();
        batch.clear();
    }
    if (!listing.left_out.empty() && notice) notice(left_out_text(listing.left_out));
    return std::move(listing.found);
}

}  // namespace jobthrottle
