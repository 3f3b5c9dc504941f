// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "cli/options.hpp"
#include "cli/session.hpp"
#include "output/messages.hpp"
#include "run/events.hpp"
#include "run/gate.hpp"

namespace jobthrottle {

// Turns what happens in a run into lines on standard error. Quiet: no notices. A wait is told when it is
// longer than notice_after, then at doubling intervals; on a terminal as one line that is kept up to date.
class Teller final : public Events {
public:
    Teller(const Common& common, const LimitOptions& limit);

    // Where to look for who paused or registered the key, and for what the store has to say. Borrowed; before
    // the first event.
    void look_into(Gate& gate, Session& session) {
        m_gate = &gate;
        m_session = &session;
    }

    void answered(const Key&, const Answer&) override;
    void waiting(const WaitStatus&) override;
    Duration waiting_interval() const override;
    void status(const WaitStatus&) override;
    void wait_over() override;
    void attempt_begins(int attempt, const std::string& program) override;
    void attempt_ended(int attempt, const ChildEnd&) override;
    void refused(const RefusalNotice&) override;
    void other_numbers(const Key&, const Answer&) override;
    void state_lost(const Key&, Duration waited) override;
    void lease_lost(const Key&, Duration lost_for, bool killed) override;
    void lease_retaken(const Key&, Duration lost_for) override;
    void store_away(const std::string& store, const Error&, std::optional<OnStoreError> policy) override;
    void store_back(const std::string& store) override;
    void failed_will_retry(const FailureNotice&) override;
    void warning(const std::string& text) override;

    // Says what is said whether quiet or not.
    void tell(const Line&);
    // Of the pause that holds the key, where it is known; the store is asked once per wait and key.
    std::optional<PauseNote> pause_note(const Key&, const Answer&);
    std::optional<Registration> registration(const Key&);

private:
    void notice(const Line&);  // unless quiet
    WaitView view_of(const WaitStatus&);
    Line line_of(const WaitStatus&);
    Line next_notice(const WaitStatus&);
    void show_live(const WaitStatus&);
    void clear_live();
    Duration since_begin() const;

    bool m_quiet;
    Duration m_notice_after;
    LimitOptions m_limit;
    Gate* m_gate = nullptr;
    Session* m_session = nullptr;
    std::optional<BootTime> m_began;  // of the wait under way
    Duration m_next_notice{};         // after its begin
    struct KnownNote {
        Key key;
        std::optional<PauseNote> note;
    };
    std::optional<KnownNote> m_note;
    bool m_told_evidence = false;  // in the notices of this wait
    bool m_live = false;           // a line stands on the terminal that the next text replaces
};

}  // namespace jobthrottle
