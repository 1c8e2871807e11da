//! Requests and answers over one connection.
//!
//! Requests are numbered. The client sends them in packets, as many in one as fit; the server
//! takes them in their order and drops what comes behind a gap. What is not known to have arrived
//! is sent again after the timeout of RFC 6298, doubled each time. An answer that begins shows
//! that its request has arrived; where it has to wait, the server says so in a packet without
//! data. Answers go out in the order in which the server has them ready, each as a whole, from a
//! segment of its own on.
//!
//! By Linux's rule the server says so at once until one of its answers was ready within the time of a
//! delayed acknowledgement; from then on after that time, if the answer is not ready by then. After a
//! request that came twice, or one that was acknowledged late, it says so at once again
//! (`tcp_event_data_sent`, `inet_csk_in_pingpong_mode`, `tcp_delack_timer_handler`).
//!
//! In an upload there are neither requests nor answers on the way: what the client would ask for it
//! sends itself, and it knows of what has arrived by acknowledgements.

use std::collections::VecDeque;

use tidegate_core::units::Time;

use crate::transport::ClassParams;
use crate::transport::rto::Rto;
use crate::transport::sender::driven::Part;

/// What the server does about a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    /// It sends data.
    Data(Part),
    /// It closes the connection.
    Close,
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) answer: Answer,
    /// How long the server takes before it answers.
    pub(super) server: Time,
    /// What the client knows it by.
    pub(super) tag: u32,
}

/// An answer on its way.
#[derive(Clone, Copy, Debug)]
struct Coming {
    /// The newest request of this answer and of those before it that are on their way.
    newest: u32,
    tag: u32,
    /// Its first segment, and the one behind its last.
    first: u32,
    end: u32,
    begun: bool,
}

/// What has come of answers, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrived {
    /// The first bytes of the answer to this request.
    Begins(u32),
    /// All of it.
    Whole(u32),
}

/// The requests and answers of one connection.
pub(super) struct Exchange {
    /// Who asks.
    pub(super) user: u32,
    /// The row of the connection.
    pub(super) row: u32,
    /// Whether the client sends the data.
    pub(super) upload: bool,
    /// Whether the client knows that the connection is open.
    pub(super) opened: bool,
    /// Requests sent, and those known to have arrived.
    pub(super) asked: u32,
    pub(super) heard: u32,
    /// When the oldest request that is not known to have arrived was sent; none: it measures
    /// nothing, as it was sent again (RFC 6298, 3).
    timed: Option<Time>,
    rto: Rto,
    /// When the client sends again.
    pub(super) resend: Time,
    /// The number of the request to close, once it was sent.
    pub(super) closing: Option<u32>,
    /// Requests that the server has not got yet.
    requests: VecDeque<Request>,
    /// Requests that the server has got.
    pub(super) served: u32,
    /// Answers in the making, by the instant at which the server has them ready.
    making: VecDeque<(Time, u32, Request)>,
    coming: VecDeque<Coming>,
    /// How long an acknowledgement may wait for an answer, by Linux's rule; none: not at all.
    delay: Option<Time>,
    /// The next request that has to wait is acknowledged at once.
    quick: bool,
    /// When a request is to be acknowledged that still waits.
    owed: Time,
    /// The event that is pending.
    pub(super) wake: Time,
}

impl Exchange {
    pub(super) fn new(user: u32, row: u32, upload: bool, class: &ClassParams) -> Exchange {
        let linux = class.tcp.timer_rule.of_linux();
        Exchange {
            user,
            row,
            upload,
            delay: class.tcp.delayed_ack.filter(|_| linux),
            quick: true,
            owed: Time::NEVER,
            opened: false,
            asked: 0,
            heard: 0,
            timed: None,
            rto: Rto::NEW,
            resend: Time::NEVER,
            closing: None,
            requests: VecDeque::new(),
            served: 0,
            making: VecDeque::new(),
            coming: VecDeque::new(),
            wake: Time::NEVER,
        }
    }

    /// The client asks.
    pub(super) fn ask(&mut self, request: Request) {
        self.requests.push_back(request);
        self.asked += 1;
        if let Answer::Close = request.answer {
            self.closing = Some(self.asked);
        }
    }

    /// Requests from `from` on that share a packet of so many at most: the number of the last.
    pub(super) fn packed(&self, from: u32, most: u32) -> u32 {
        let last = (from + most - 1).min(self.asked);
        match self.closing {
            // the request to close travels alone
            Some(closing) if from < closing && last >= closing => closing - 1,
            _ => last,
        }
    }

    /// The time to wait for a sign that requests have arrived, which leave at `now`.
    pub(super) fn timeout(&mut self, now: Time, class: &ClassParams) -> Time {
        if self.resend == Time::NEVER {
            self.timed = Some(now);
        }
        self.rto.timeout(class, false)
    }

    /// Requests are sent again.
    pub(super) fn back_off(&mut self, class: &ClassParams) {
        self.timed = None;
        self.rto.back_off(class.tcp.timer_rule);
    }

    /// The client learns that requests up to this have arrived. Returns whether that is new.
    pub(super) fn hear(&mut self, number: u32, now: Time, class: &ClassParams) -> bool {
        if number <= self.heard {
            return false;
        }
        self.heard = number;
        self.resend = Time::NEVER;
        if let Some(sent) = self.timed.take() {
            self.rto.sample(sent, now, None, class);
        }
        true
    }

    /// How long to wait for the rest of the requests, where some are not known to have arrived.
    pub(super) fn rest(&self, class: &ClassParams) -> Option<Time> {
        (self.heard < self.asked).then(|| self.rto.timeout(class, false))
    }

    /// The newest request whose answer has begun with this segment or before.
    pub(super) fn begun_by(&self, segment: u32) -> u32 {
        let begun = self.coming.partition_point(|answer| answer.first <= segment);
        begun.checked_sub(1).map_or(0, |last| self.coming[last].newest)
    }

    /// Whether a packet with requests up to `last`, so many, says something new, in order.
    pub(super) fn is_next(&self, last: u32, count: u32) -> bool {
        last > self.served && last.saturating_sub(count) <= self.served
    }

    /// The server gets the requests up to `last`. Returns whether an answer has to wait.
    pub(super) fn get(&mut self, last: u32, now: Time) -> bool {
        let mut waits = !self.coming.is_empty();
        while self.served < last {
            let Some(request) = self.requests.pop_front() else { break };
            self.served += 1;
            let due = now + request.server;
            let place = self.making.partition_point(|&(at, ..)| at <= due);
            self.making.insert(place, (due, self.served, request));
            waits |= due > now;
        }
        waits
    }

    /// A request has to wait for its answer. Returns whether it is acknowledged at once; if not, it
    /// is when the answer takes too long.
    pub(super) fn tells_at_once(&mut self, now: Time) -> bool {
        match self.delay {
            // data of an answer on its way would take it along, which says nothing of requests here
            Some(delay) if !self.quick && self.coming.is_empty() => {
                self.owed = self.owed.min(now + delay);
                false
            }
            _ => true,
        }
    }

    /// A request has come twice: the next acknowledgements are quick again (Linux:
    /// `tcp_enter_quickack_mode`).
    pub(super) fn came_twice(&mut self) {
        self.quick = true;
    }

    /// All requests that have come are acknowledged now.
    pub(super) fn told(&mut self) {
        self.owed = Time::NEVER;
    }

    /// Whether a request is to be acknowledged by now that still waits: its answer takes so long that
    /// the next ones are acknowledged at once (Linux: `tcp_delack_timer_handler`).
    pub(super) fn pays(&mut self, now: Time) -> bool {
        let due = self.owed <= now;
        self.quick |= due;
        due
    }

    /// When the server has its next answer ready.
    pub(super) fn due(&self) -> Time {
        self.making.front().map_or(Time::NEVER, |&(at, ..)| at)
    }

    /// Whether the server has requests that it has not answered.
    pub(super) fn is_making(&self) -> bool {
        !self.making.is_empty()
    }

    /// The next answer that is ready by `now`; `first` is its first segment.
    pub(super) fn ready(&mut self, now: Time, first: u32) -> Option<Answer> {
        if self.due() > now {
            return None;
        }
        let (_, number, request) = self.making.pop_front()?;
        if self.delay.is_some_and(|delay| request.server < delay) {
            self.quick = false;
            // what still waits is acknowledged when its time has come
            if self.making.is_empty() {
                self.told();
            }
        }
        if let Answer::Data(part) = request.answer {
            let (tag, end) = (request.tag, first + part.segments);
            let newest = self.coming.back().map_or(number, |answer| answer.newest.max(number));
            self.coming.push_back(Coming { newest, tag, first, end, begun: false });
        }
        Some(request.answer)
    }

    /// What of the answers has come, where so many segments have.
    pub(super) fn arrived(&mut self, received: u32) -> Option<Arrived> {
        let front = self.coming.front_mut()?;
        if received > front.first && !front.begun {
            front.begun = true;
            return Some(Arrived::Begins(front.tag));
        }
        if received < front.end {
            return None;
        }
        self.coming.pop_front().map(|whole| Arrived::Whole(whole.tag))
    }

    /// When its event is due.
    pub(super) fn deadline(&self) -> Time {
        self.resend.min(self.due()).min(self.owed)
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::profile::Profile;

    use super::*;

    /// By hand: the server has the third of four answers ready first, then the others in turn, of
    /// two segments each. What begins with segment 2 is the answer to the first request, and the
    /// third is the newest that has begun.
    #[test]
    fn the_newest_request_with_an_answer_is_known_at_any_segment() {
        let mut exchange = Exchange::new(0, 0, false, &ClassParams::of(Profile::Rfc.tcp()));
        for (number, server) in [(1, 2), (2, 3), (3, 1), (4, 4)] {
            let answer = Answer::Data(Part { segments: 2, lacking: 0, last: false });
            exchange.ask(Request { answer, server: Time::from_ms(server), tag: number });
        }
        exchange.get(4, Time::ZERO);
        for first in [0, 2, 4, 6] {
            exchange.ready(Time::from_ms(10), first);
        }
        let begun: Vec<u32> = (0..8).map(|segment| exchange.begun_by(segment)).collect();
        assert_eq!(begun, [3, 3, 3, 3, 3, 3, 4, 4]);
        while exchange.arrived(6).is_some() {}
        assert_eq!((exchange.begun_by(5), exchange.begun_by(6)), (0, 4));
    }

    /// Linux (`tcp_event_data_sent`, `tcp_delack_timer_handler`), by hand with acknowledgements that
    /// are delayed by 40 ms: the first request is acknowledged at once; the answer of 10 ms ends
    /// that. One that takes 100 ms is acknowledged after 40, and the next one at once again.
    #[test]
    fn a_slow_answer_is_announced() {
        let class = ClassParams::of(Profile::Linux.tcp());
        let mut exchange = Exchange::new(0, 0, false, &class);
        let answer = Answer::Data(Part { segments: 2, lacking: 0, last: false });
        let mut asks = |number: u32, at: u64, server: u64| {
            let server = Time::from_ms(server);
            exchange.ask(Request { answer, server, tag: number });
            assert!(exchange.get(number, Time::from_ms(at)), "{number} waits");
            let at_once = exchange.tells_at_once(Time::from_ms(at));
            let late = exchange.deadline();
            let paid = exchange.pays(late);
            if at_once || paid {
                exchange.told();
            }
            exchange.ready(Time::from_ms(at) + server, 2 * (number - 1));
            while exchange.arrived(2 * number).is_some() {}
            (at_once, paid.then_some(late))
        };
        assert_eq!(asks(1, 0, 10), (true, None));
        assert_eq!(asks(2, 100, 100), (false, Some(Time::from_ms(140))));
        assert_eq!(asks(3, 300, 100), (true, None));
        assert_eq!(asks(4, 500, 10), (true, None));
        assert_eq!(asks(5, 600, 10), (false, None));
    }
}
