// SPDX-License-Identifier: MIT
#include "core/refusal/scanner.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace jobthrottle {

namespace {

std::size_t index_of(ScannedStream stream) {
    return static_cast<std::size_t>(stream);
}

// Gathers what speaks for a pause.
class Case {
public:
    void add(const std::optional<Refusal>& refusal, bool refuses) {
        if (!refusal) return;
        m_refused = m_refused || refuses;
        m_ledger.refuse(*refusal);
    }

    Verdict decide(const PauseBounds& bounds, BootTime end) const {
        Verdict verdict;
        verdict.refused = m_refused;
        if (!m_ledger.longest()) return verdict;
        const Refusal& longest = *m_ledger.longest();
        // The delay runs from when it was asked: a client may have slept through part of it.
        const Duration left = longest.arrived + bounds.pause_for(longest.asked) - end;
        verdict.pause = std::min(std::max(left, bounds.least), bounds.most);
        verdict.asked = longest.asked;
        verdict.ill_formed = longest.ill_formed;
        verdict.evidence = longest.evidence;
        return verdict;
    }

private:
    bool m_refused = false;
    RefusalLedger m_ledger;
};

std::optional<Refusal> refusal_by_exit(const std::vector<ExitRule>& rules, const AttemptEnd& end) {
    RefusalLedger ledger;
    for (const ExitRule& rule : rules) {
        if (rule.code != end.exit_code) continue;
        const std::string reason = "exit code " + std::to_string(end.exit_code);
        ledger.refuse({rule.delay, end.at.boot, {}, {Evidence::Source::exit_code, {}, reason}});
    }
    return ledger.longest();
}

}  // namespace

RefusalScanner::RefusalScanner(RefusalRules rules)
    : m_rules(std::move(rules)),
      m_streams{StreamScan(settings_for(ScannedStream::out)), StreamScan(settings_for(ScannedStream::err)),
                StreamScan(settings_for(ScannedStream::both))} {}

StreamScan::Settings RefusalScanner::settings_for(ScannedStream stream) const {
    if (stream == ScannedStream::out) return {stream, m_rules.out_through_terminal, nullptr};
    const bool through_terminal =
        m_rules.err_through_terminal || (stream == ScannedStream::both && m_rules.out_through_terminal);
    return {stream, through_terminal, &m_rules.line_rules};
}

void RefusalScanner::feed(ScannedStream stream, std::string_view bytes, Moment now) {
    m_streams[index_of(stream)].feed(bytes, now);
}

Verdict RefusalScanner::finish(const AttemptEnd& end) {
    const bool failed = end.exit_code != 0;
    Case found;
    // The order settles ties: what was said by a provider before what was said about it.
    for (StreamScan& stream : m_streams) {
        stream.end(end.at);
        found.add(stream.refusal(failed), true);
    }
    const auto& [out, err, both] = m_streams;
    // The message of a command that succeeded is about the next one.
    found.add(out.message(), failed);
    found.add(both.message(), failed);
    if (m_rules.message_on_err) found.add(err.message(), failed);
    found.add(refusal_by_exit(m_rules.exit_rules, end), true);
    return found.decide(m_rules.bounds, end.at.boot);
}

}  // namespace jobthrottle
