// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/clocked_key.hpp"
#include "core/decide.hpp"
#include "core/judgement.hpp"

namespace jobthrottle {

// One question to one key: looked at first, so that all keys of a job can be looked at before any is changed,
// and then answered.
class Asking {
public:
    // Opens the key and judges the question. What it is given is borrowed.
    Asking(KeyRecords&, std::int64_t store_now_us, const Question&, const StoreTraits&);

    bool refused() const { return m_refused; }
    // A start is possible now, or was given under this id before.
    bool starts() const { return m_repeated || m_judgement.starts; }
    bool repeated() const { return m_repeated; }
    Duration start_in() const { return Duration{m_start_at_us - m_key.now_us()}; }  // REQUIRES: starts()
    Duration grant() const { return Duration{m_judgement.grant_us}; }  // REQUIRES: not repeated()
    // When it is worth asking again, this key alone considered; zero where it starts.
    Duration again_in() const;
    // At the latest, for who keeps coming back.
    Duration check_in() const;
    // Nobody knows when its pause ends, so that also a caller has to look.
    bool never_ends() const { return m_key.header().paused_until_us == k_forever_us; }
    const Question& question() const { return m_question; }
    // max_waiting is reached, and the asker has no place yet.
    bool is_crowded() const;

    void take_start(Duration in);
    // `away`: another key holds the job up for so long, and this one is not to wait for it.
    void take_place(Duration told, std::optional<Duration> away = {});
    // It could start, and waits for a key that lives elsewhere. REQUIRES: starts(), not repeated
    void hold();
    void tell(AnswerKind kind, Duration wait);  // without taking anything

    Answer finish();  // writes the key back

private:
    bool is_refused();
    void look();
    WaitCause cause() const;
    std::int64_t lease_retry_us() const;
    std::int64_t departures_apart_us() const;

    ClockedKey m_key;
    const Question& m_question;
    const StoreTraits& m_traits;
    Answer m_answer;
    bool m_refused = false;
    bool m_repeated = false;
    std::int64_t m_start_at_us = 0;
    std::optional<Ticket> m_own;
    Standing m_standing;
    Judgement m_judgement;
};

// Decides for all keys of a job. REQUIRES: the questions take the same; one that holds is alone.
void decide_together(std::vector<Asking>& keys);

}  // namespace jobthrottle
