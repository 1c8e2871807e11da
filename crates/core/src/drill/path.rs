//! Two ends, the path between them as a script has it, and all that they send.

use std::collections::BTreeMap;

use crate::host::{Ends, Host, Mark, Order, Transfer};
use crate::units::Time;

use super::script::{DrillSituation, Fate};
use super::subject::{PathEnd, Subject, WordReader};
use super::timeline::{SentDatagram, TOLERANCE, Timeline};

/// The most bytes of a datagram, without headers of IP and UDP: what every path of QUIC carries.
const DATAGRAM: u16 = 1200;
/// No situation needs as many turns, or counts as many in `Play::sent`: a host that never rests is
/// found by them.
const TURNS: u32 = 200_000;

/// One end while a situation is played.
struct PlayedEnd {
    side: PathEnd,
    host: Box<dyn Host + Send>,
    wake: Time,
    sent: u32,
}

/// A datagram that is under way.
struct UnderWay {
    to: PathEnd,
    bytes: Vec<u8>,
    mark: Mark,
}

/// A situation while it is played.
struct Play<'a> {
    situation: &'a DrillSituation<'a>,
    now: Time,
    /// By the time at which it comes, and in the order in which it was sent.
    coming: BTreeMap<(Time, u32), UnderWay>,
    /// Counts each datagram that is sent, lost ones too, and each that comes, copies too. So it numbers
    /// those under way, and ends what hosts that never rest send.
    sent: u32,
    words: WordReader,
    timeline: Timeline,
}

/// Plays a situation up to the last time that it names; an error: the hosts do not get there.
pub(super) fn run(
    situation: &DrillSituation<'_>,
    mut subject: Subject,
) -> Result<Timeline, String> {
    let transfer = Transfer {
        start: Time::ZERO,
        size: situation.size,
        download: situation.download,
        objects: situation.objects,
        datagram: DATAGRAM,
        seed: 1,
    };
    let Ends { client, server } = (subject.stack)(&transfer);
    let end = |side, host, wake| PlayedEnd { side, host, wake, sent: 0 };
    let mut ends =
        [end(PathEnd::Client, client, Time::ZERO), end(PathEnd::Server, server, Time::NEVER)];
    let mut play = Play {
        situation,
        now: Time::ZERO,
        coming: BTreeMap::new(),
        sent: 0,
        words: subject.words,
        timeline: Timeline::default(),
    };
    let mut orders = situation.orders.iter().peekable();
    for _ in 0..TURNS {
        while let Some(first) = play.coming.first_entry().filter(|e| e.key().0 <= play.now) {
            let UnderWay { to, bytes, mark } = first.remove();
            let end = &mut ends[to as usize];
            end.host.receive(play.now, &bytes, mark);
            play.turn(end, Order::GoOn);
        }
        // what has come is read before the application wants more
        while let Some((_, side, order)) = orders.next_if(|(at, ..)| *at <= play.now) {
            play.turn(&mut ends[*side as usize], *order);
        }
        for end in &mut ends {
            if end.wake <= play.now {
                play.turn(end, Order::GoOn);
            }
        }
        let order = orders.peek().map_or(Time::NEVER, |(at, ..)| *at);
        let comes = play.coming.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
        let next = ends[0].wake.min(ends[1].wake).min(order).min(comes);
        if play.sent > TURNS {
            break;
        }
        if next > situation.end.saturating_add(TOLERANCE) {
            return Ok(play.timeline);
        }
        // a host that wants its turn at once is not heard at the same instant for ever
        play.now = next.max(play.now + Time::from_ns(1));
    }
    let ms = play.now.secs() * 1e3;
    Err(format!("{}: there is no end to what the hosts do at {ms} ms", situation.name))
}

impl Play<'_> {
    /// Has an end do what is due, and takes what it sends.
    fn turn(&mut self, end: &mut PlayedEnd, order: Order) {
        let report = end.host.poll(self.now, order);
        self.timeline.reports.push((self.now, end.side, report));
        while end.host.heard().is_some() {}
        let mut bytes = Vec::new();
        while self.sent <= TURNS
            && let Some(mark) = end.host.transmit(self.now, &mut bytes)
        {
            self.send(end, std::mem::take(&mut bytes), mark);
        }
        end.wake = end.host.wake();
    }

    fn send(&mut self, end: &mut PlayedEnd, bytes: Vec<u8>, mark: Mark) {
        let (now, side, number, size) = (self.now, end.side, end.sent, bytes.len());
        end.sent += 1;
        let word = (self.words)(side, &bytes);
        let fates = self.situation.fates(side, number, now);
        let mut came = mark;
        let mut delay = self.situation.delay;
        let mut copy = None;
        for fate in &fates {
            match *fate {
                Fate::Lost => {}
                Fate::Held(wait) => delay += wait,
                Fate::Twice(wait) => copy = Some(wait),
                Fate::Marked if mark != Mark::None => came = Mark::Ce,
                Fate::Marked => {}
                Fate::Unmarked => came = Mark::None,
            }
        }
        let to = if side == PathEnd::Client { PathEnd::Server } else { PathEnd::Client };
        let lost = fates.contains(&Fate::Lost);
        let copies = [Some(Time::ZERO), copy].into_iter().flatten().filter(|_| !lost);
        self.sent += 1;
        for wait in copies {
            self.sent += 1;
            let key = (now + delay + wait, self.sent);
            self.coming.insert(key, UnderWay { to, bytes: bytes.clone(), mark: came });
        }
        let mark = match mark {
            Mark::None => "not-ect",
            Mark::Ect0 => "ect0",
            Mark::Ect1 => "ect1",
            Mark::Ce => "ce",
        };
        let fates = fates.iter().map(|fate| format!(" {fate:?}")).collect();
        self.timeline.sent.push(SentDatagram { at: now, side, number, word, size, mark, fates });
    }
}
