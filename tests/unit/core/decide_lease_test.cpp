// SPDX-License-Identifier: MIT
// Concurrency: places, leases, who dies with one, who waits for one. contract.md section 4.
#include "support/catch.hpp"
#include "support/desk.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

namespace {

// Asks and gives the lease's name.
LeaseId started(Desk& desk, TicketId place) {
    const Answer answer = desk.ask(place);
    REQUIRE(answer.kind == AnswerKind::start);
    REQUIRE(answer.leased);
    return desk.last_id();
}

HolderLife dead(const Lease&) {
    return HolderLife::dead;
}
HolderLife alive(const Lease&) {
    return HolderLife::alive;
}

}  // namespace

TEST_CASE("lease: at most C places, all who come start at once, and then in the order they came", "[unit]") {
    Desk desk("3 at once");
    const LeaseId first = started(desk, 1), second = started(desk, 2);
    CHECK(desk.ask(3).places == 3);
    const Answer waits = desk.ask(4);
    CHECK(waits.kind == AnswerKind::wait);
    CHECK(waits.why == WaitCause::lease);
    CHECK(waits.places == 3);
    CHECK(waits.waiting == 1);
    CHECK_FALSE(waits.leased);
    CHECK(desk.ask(5).kind == AnswerKind::wait);
    CHECK(desk.ask(6).ahead == 2);
    CHECK(say(desk.release(second).state) == "held");
    CHECK(desk.ask(6).kind == AnswerKind::wait);  // it is not the first
    CHECK(desk.ask(7).kind == AnswerKind::wait);
    CHECK(say(desk.ask(4)) == "start now");
    CHECK(desk.ask(5).kind == AnswerKind::wait);
    desk.release(first);
    CHECK(say(desk.ask(5)) == "start now");
    CHECK(desk.header().places == 3);
    CHECK(desk.report().places == 3);
}

TEST_CASE("lease: a concurrency beside a rate, each of them holds", "[unit]") {
    Desk desk("8/s, 2 at once", 60s);
    const LeaseId first = started(desk, 1);
    const Answer by_rate = desk.ask(2);
    CHECK(say(by_rate) == "come back in 25ms");
    CHECK(by_rate.why == WaitCause::rate);
    CHECK(by_rate.wake == 0);
    CHECK(say(desk.at(25ms).ask(2)) == "start in 100ms");
    const Answer by_lease = desk.at(250ms).ask(3);
    CHECK(by_lease.why == WaitCause::lease);
    CHECK(by_lease.wake == 1);
    desk.at(300ms).release(first);
    CHECK(desk.woken() == std::vector<TicketId>{3});
    CHECK(say(desk.ask(3)) == "start now");  // its slot of 250 ms is a little late
    CHECK(say(desk.ask(4)) == "come back in 25ms");
}

TEST_CASE("lease: releasing is told apart by what was there, and can be repeated", "[unit]") {
    Desk desk("1 at once");
    const LeaseId id = started(desk, 1);
    CHECK(say(desk.release(id + 7).state) == "unknown");
    CHECK(desk.header().places == 1);
    CHECK(say(desk.release(id).state) == "held");
    CHECK(say(desk.release(id).state) == "unknown");
    CHECK(say(desk.renew(id).state) == "unknown");
    CHECK(desk.header().places == 0);
    CHECK(desk.header().leases == 0);
    CHECK(say(desk.ask(2)) == "start now");
}

TEST_CASE("lease: a start asked for again has its lease and takes no second place", "[unit]") {
    Desk desk("2 at once");
    const LeaseId id = started(desk, 1);
    const Answer again = desk.ask_again(1, id);
    CHECK(say(again) == "start now");
    CHECK(again.leased);
    CHECK(again.places == 1);
    desk.release(id);
    CHECK_FALSE(desk.ask_again(1, id).leased);  // it was given back meanwhile
    CHECK(desk.header().places == 0);
}

TEST_CASE("lease: asked again under an id that is forgotten, a place is not counted twice", "[unit]") {
    Desk desk("2000 at once");
    const LeaseId id = started(desk, 1);
    for (int i = 0; i < 1024; ++i)
        desk.release(started(desk, 2));
    CHECK(say(desk.ask_again(1, id)) == "start now");
    CHECK(desk.header().places == 1);
    CHECK(desk.header().leases == 1);
    desk.release(id);
    CHECK(desk.header().places == 0);
}

TEST_CASE("lease: runs out after its time, and is renewed from now on", "[unit]") {
    Desk desk("1 at once");
    const LeaseId id = started(desk, 1);
    CHECK(say(desk.at(50s).renew(id).state) == "held");
    CHECK(desk.at(110s).ask(2).kind == AnswerKind::wait);
    CHECK(desk.header().places == 1);
    CHECK(say(desk.at(110s + 1us).ask(2)) == "start now");
    CHECK(desk.header().places == 1);
    CHECK(desk.header().held == 1);
    CHECK(desk.header().leases == 2);  // the lost one is remembered

    const LeaseAnswer lost = desk.at(115s).renew(id);
    CHECK(say(lost.state) == "lost");
    CHECK(lost.lost_for == 5s);
    const LeaseAnswer released = desk.release(id);
    CHECK(say(released.state) == "lost");
    CHECK(released.lost_for == 5s);
    CHECK(say(desk.release(id).state) == "unknown");
    CHECK(desk.header().places == 1);
}

TEST_CASE("lease: one that ran out is taken again where there is room", "[unit]") {
    Desk desk("1 at once");
    const LeaseId id = started(desk, 1);
    const LeaseAnswer retaken = desk.at(70s).renew(id, 5s);
    CHECK(say(retaken.state) == "retaken");
    CHECK(retaken.lost_for == 10s);
    CHECK(desk.ask(2).kind == AnswerKind::wait);
    CHECK(say(desk.at(75s + 1us).ask(2)) == "start now");  // 5 s, as it said
    CHECK(say(desk.renew(id).state) == "lost");
}

TEST_CASE("lease: a lost one is forgotten after ten minutes, and then the key", "[unit]") {
    Desk desk("1 at once");
    const LeaseId id = started(desk, 1);
    desk.at(660s);
    CHECK(say(desk.renew(id + 1).state) == "unknown");
    CHECK(desk.header().leases == 1);
    desk.after(1us).peek();
    CHECK_FALSE(desk.records().header().has_value());
    CHECK(desk.records().leases().empty());
    CHECK(say(desk.renew(id).state) == "unknown");
}

TEST_CASE("lease: more of them run out than one question may clear away", "[unit]") {
    Desk desk("40 at once");
    for (TicketId place = 1; place <= 40; ++place)
        started(desk, place);
    desk.at(61s).peek();
    CHECK(desk.header().places == 24);
    desk.peek();
    CHECK(desk.header().places == 8);
    desk.peek();
    CHECK(desk.header().places == 0);
    CHECK(desk.header().leases == 40);
}

TEST_CASE("lease: of a holder that lives stays, whatever its time says", "[unit]") {
    Desk desk("1 at once");
    desk.records().know_life(alive);
    const LeaseId id = started(desk, 1);
    CHECK(desk.at(61s).ask(2).kind == AnswerKind::wait);
    CHECK(desk.at(3min).ask(2).kind == AnswerKind::wait);
    CHECK(say(desk.renew(id).state) == "held");
    // Nobody has asked for so long that the key would be as good as new.
    desk.at(24h);
    CHECK(desk.ask(3).kind == AnswerKind::wait);
    CHECK(desk.header().places == 1);
    CHECK(say(desk.release(id).state) == "held");
    CHECK(say(desk.ask(3)) == "start now");
}

TEST_CASE("lease: a living holder keeps a place that its time has lost already", "[unit]") {
    Desk desk("1 at once");
    started(desk, 1);
    desk.at(24h);
    desk.records().know_life(alive);
    CHECK(desk.peek().kind == AnswerKind::wait);
    CHECK(desk.report().holding.at(0).held);
}

TEST_CASE("lease: of a holder that is dead is free for the next who asks", "[unit]") {
    Desk desk("2 at once");
    const LeaseId first = started(desk, 1);
    started(desk, 2);
    CHECK(desk.ask(3).kind == AnswerKind::wait);
    desk.records().know_life(
        [&](const Lease& lease) { return lease.who == "1" ? HolderLife::dead : HolderLife::alive; });
    CHECK(desk.ask(3).kind == AnswerKind::wait);
    desk.records().know_life(dead);
    CHECK(desk.header().places == 2);
    CHECK(say(desk.ask(3)) == "start now");
    CHECK(desk.header().places == 1);
    CHECK(say(desk.renew(first).state) == "unknown");
}

TEST_CASE("lease: those of the dead, or all, are released by hand", "[unit]") {
    Desk desk("4 at once");
    for (TicketId place = 1; place <= 4; ++place) {
        desk.usual().who = std::to_string(place);
        started(desk, place);
    }
    desk.records().know_life([](const Lease& lease) {
        return lease.who == "2"   ? HolderLife::dead
               : lease.who == "3" ? HolderLife::unknown
                                  : HolderLife::alive;
    });
    const auto of_the_dead = desk.release_leases(true);
    REQUIRE(of_the_dead.size() == 1);
    CHECK(of_the_dead[0].second.who == "2");
    CHECK(desk.header().places == 3);
    CHECK(desk.release_leases(true).empty());
    CHECK(desk.release_leases(false).size() == 3);
    CHECK(desk.header().places == 0);
    CHECK(desk.header().leases == 0);
}

TEST_CASE("lease: a run inside a run that holds the key is told so and takes nothing", "[unit]") {
    Desk desk("1 at once");
    const LeaseId outer = started(desk, 1);
    const auto before = fields_of(desk.header());
    Question inner = desk.question(2);
    inner.ancestors = {outer + 9, outer};
    CHECK(say(desk.ask(inner)) == "nested");
    CHECK(fields_of(desk.header()) == before);
    CHECK_FALSE(desk.place_of(2).has_value());
    desk.release(outer);
    CHECK(say(desk.ask(inner)) == "start now");

    // An ancestor that is kept account of, but holds no place, keeps nobody from anything.
    Desk paced("8/s,burst=8");
    paced.usual().settles = true;
    const LeaseId account = started(paced, 1);
    Question child = paced.question(2);
    child.ancestors = {account};
    CHECK(say(paced.ask(child)) == "start now");
}

TEST_CASE("lease: where so many wait that one more may not, nobody takes a place", "[unit]") {
    Desk desk("1 at once");
    desk.usual().max_waiting = 2;
    started(desk, 1);
    CHECK(desk.ask(2).kind == AnswerKind::wait);
    CHECK(desk.ask(3).kind == AnswerKind::wait);
    CHECK(say(desk.ask(4)) == "crowded");
    CHECK_FALSE(desk.place_of(4).has_value());
    CHECK(desk.ask(3).kind == AnswerKind::wait);  // it has its place
    desk.cancel(2);
    CHECK(desk.ask(4).kind == AnswerKind::wait);
    desk.usual().max_waiting = 0;
    CHECK(say(desk.ask(5)) == "crowded");
    Desk free("1 at once");
    free.usual().max_waiting = 0;
    CHECK(say(free.ask(1)) == "start now");
    CHECK(say(free.ask(2)) == "crowded");
}

TEST_CASE("lease: a pause holds those who wait for one, who follow at ten a second", "[unit]") {
    Desk desk("4 at once", 60s);
    const LeaseId first = started(desk, 1);
    desk.pause(10s);
    CHECK(desk.ask(2).why == WaitCause::paused);
    CHECK(say(desk.ask(3)) == "come back in 10s");
    desk.release(first);
    CHECK(desk.woken().empty());
    desk.at(10s);
    CHECK(say(desk.ask(2)) == "start now");
    CHECK(say(desk.ask(3)) == "start in 100ms");
    CHECK(say(desk.ask(4)) == "start in 100ms");  // it came afterwards, not before the last start
    CHECK(desk.header().places == 3);
}

TEST_CASE("lease: a smaller concurrency holds until enough have left", "[unit]") {
    Desk desk("3 at once");
    std::vector<LeaseId> held;
    for (TicketId place = 1; place <= 3; ++place)
        held.push_back(started(desk, place));
    desk.set_limit("1 at once");
    CHECK(desk.ask(4).kind == AnswerKind::wait);
    desk.release(held[0]);
    desk.release(held[1]);
    CHECK(desk.woken().empty());
    CHECK(desk.ask(4).kind == AnswerKind::wait);
    desk.release(held[2]);
    CHECK(desk.woken() == std::vector<TicketId>{4});
    CHECK(say(desk.ask(4)) == "start now");
}
