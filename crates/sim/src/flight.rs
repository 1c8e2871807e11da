//! Every packet that propagates outside of its port.
//!
//! A packet that finds its port idle sets out at once: its delivery is known, and
//! the port need not keep it. Most such packets lie in *lanes*, which need no event.
//! The others are *parcels*, which lie with the events of the instant at which they
//! land. Which of the two a packet is concerns nobody outside of this module:
//! [`Flight::set_out`] takes it, and the [`Landing`] of the earliest one says where it lies.
//!
//! Packets behind a busy port stay in the port's ring until they are delivered: the
//! port has an event for the first of them, and a copy to a parcel would save none.

mod lanes;

use tidegate_core::packet::Packet;
use tidegate_core::port::Port;
use tidegate_core::units::Time;

use crate::engine::Events;
use lanes::Lanes;

/// The packets under way, but for those that their ports keep.
pub(crate) struct Flight {
    lanes: Lanes,
}

/// The port at which a packet sets out, when it is delivered, and what packets of one lane have in
/// common: how much later than now that is, or the place where they wait.
pub(crate) type Way = (u32, Time, Time);

/// Where a packet lies that lands now. Between [`Landing::lift`] and one of the others nothing else
/// may land or set out.
pub(crate) trait Landing: Copy {
    /// The packet. Whatever lies in the way of the next one is moved to `place`.
    fn lift<'a>(self, flight: &mut Flight, events: &'a Events, place: &'a mut Packet)
    -> &'a Packet;

    /// It sets out anew.
    fn send_on(
        self,
        flight: &mut Flight,
        events: &mut Events,
        place: &Packet,
        way: Way,
        hint: &mut u16,
    );

    /// It has landed, and is needed no more.
    fn free(self, flight: &mut Flight, events: &mut Events);

    /// It has landed, and lies at `place` from now on.
    fn arrive(self, flight: &mut Flight, events: &mut Events, place: &mut Packet);
}

/// At the head of the lane that delivers next.
#[derive(Clone, Copy)]
pub(crate) struct Head;

/// Among the parcels, at this place.
#[derive(Clone, Copy)]
pub(crate) struct Parcel(pub(crate) u32);

impl Landing for Head {
    #[inline(always)]
    fn lift<'a>(self, flight: &mut Flight, _: &'a Events, place: &'a mut Packet) -> &'a Packet {
        flight.lanes.lift(place);
        place
    }

    #[inline(always)]
    fn send_on(
        self,
        flight: &mut Flight,
        events: &mut Events,
        place: &Packet,
        way: Way,
        hint: &mut u16,
    ) {
        flight.take(events, place, way, hint);
        flight.lanes.choose();
    }

    #[inline(always)]
    fn free(self, flight: &mut Flight, _: &mut Events) {
        flight.lanes.choose();
    }

    #[inline(always)]
    fn arrive(self, flight: &mut Flight, _: &mut Events, _: &mut Packet) {
        flight.lanes.choose();
    }
}

impl Landing for Parcel {
    #[inline(always)]
    fn lift<'a>(self, _: &mut Flight, events: &'a Events, _: &'a mut Packet) -> &'a Packet {
        events.parcel(self.0)
    }

    #[inline(always)]
    fn send_on(
        self,
        flight: &mut Flight,
        events: &mut Events,
        _: &Packet,
        (onward, at, span): Way,
        hint: &mut u16,
    ) {
        if flight.lanes.take(events.parcel(self.0), onward, (at, span), hint) {
            events.free_parcel(self.0);
        } else {
            events.send_on(self.0, onward, at);
        }
    }

    #[inline(always)]
    fn free(self, _: &mut Flight, events: &mut Events) {
        events.free_parcel(self.0);
    }

    #[inline(always)]
    fn arrive(self, _: &mut Flight, events: &mut Events, place: &mut Packet) {
        *place = *events.parcel(self.0);
        events.free_parcel(self.0);
    }
}

impl Flight {
    pub(crate) fn new() -> Flight {
        Flight { lanes: Lanes::new() }
    }

    /// A packet arrives at a port at `now`, and sets out at once if the port is idle. False:
    /// it has to wait, or the port has stages; then nothing has happened.
    #[inline(always)]
    pub(crate) fn set_out(
        &mut self,
        events: &mut Events,
        (port, number): (&mut Port, u32),
        packet: &Packet,
        now: Time,
    ) -> bool {
        let Some(at) = port.pass(packet, now) else { return false };
        self.take(events, packet, (number, at, at - now), &mut port.hint);
        true
    }

    /// A packet sets out; `hint`: that of the port that has sent packets of this lane before.
    #[inline(always)]
    pub(crate) fn take(
        &mut self,
        events: &mut Events,
        packet: &Packet,
        (number, at, span): Way,
        hint: &mut u16,
    ) {
        if !self.lanes.take(packet, number, (at, span), hint) {
            events.push_parcel(packet, number, at);
        }
    }

    /// When [`Head`] lands, as a key of events; no packet in a lane: later than every instant.
    /// A [`Parcel`] has an event.
    #[inline(always)]
    pub(crate) fn first(&self) -> u128 {
        self.lanes.first()
    }

    /// A packet that lands some deliveries from now.
    #[inline(always)]
    pub(crate) fn ahead(&self) -> Option<&Packet> {
        self.lanes.ahead()
    }

    /// All of them.
    pub(crate) fn packets<'a>(&'a self, events: &'a Events) -> impl Iterator<Item = &'a Packet> {
        self.lanes.packets().chain(events.parcels())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::btree_map::Entry;

    use super::*;
    use crate::draws::draws;
    use crate::engine::last_at;

    fn packet(flow: u32) -> Packet {
        Packet { flow, ..Packet::default() }
    }

    /// What lands next, whether it lies in a lane, and what `then` does with it.
    fn next(
        flight: &mut Flight,
        events: &mut Events,
        then: impl Fn(&mut Flight, &mut Events, Option<u32>, &Packet),
    ) -> (Packet, bool) {
        let parcel = events.take(flight.first()).map(|event| event.parcel());
        let mut lifted = Packet::default();
        let packet = match parcel {
            Some(place) => *Parcel(place).lift(flight, events, &mut lifted),
            None => *Head.lift(flight, events, &mut lifted),
        };
        then(flight, events, parcel, &packet);
        (packet, parcel.is_none())
    }

    /// It has landed.
    fn free(flight: &mut Flight, events: &mut Events, parcel: Option<u32>, _: &Packet) {
        match parcel {
            Some(place) => Parcel(place).free(flight, events),
            None => Head.free(flight, events),
        }
    }

    /// It sets out anew; returns the hint of its port.
    fn send_on(
        flight: &mut Flight,
        events: &mut Events,
        (parcel, packet): (Option<u32>, &Packet),
        way: Way,
        mut hint: u16,
    ) -> u16 {
        match parcel {
            Some(place) => Parcel(place).send_on(flight, events, packet, way, &mut hint),
            None => Head.send_on(flight, events, packet, way, &mut hint),
        }
        hint
    }

    /// Whatever sets out comes out by time and then by port, whoever set out
    /// first: against a sorted list. There are fewer and more times than lanes,
    /// and arrivals at equal instants in any order of ports. Every third packet
    /// sets out anew, straight from where it lies.
    #[test]
    fn deliveries_are_in_the_order_of_time_and_port() {
        let mut draw = draws();
        let (mut laned, mut parcels, mut again) = (0, 0, [0; 2]);
        for (spans, alike) in [(1, false), (3, false), (8, false), (20, false), (6, true)] {
            // a port has one time, or any
            let time = |port: u32, any: u64| {
                let steps = if alike { u64::from(port) % spans } else { any };
                Time::from_ns(100 * (1 + steps))
            };
            let (mut flight, mut events) = (Flight::new(), Events::default());
            let mut sorted = std::collections::BTreeMap::new();
            let mut hints = [0; 50];
            let mut now = Time::ZERO;
            for flow in 0..20_000 {
                let port = draw(50) as u32;
                let span = time(port, draw(spans));
                let at = now + span;
                // a port delivers one packet at an instant
                if let Entry::Vacant(place) = sorted.entry((at, port)) {
                    place.insert(flow);
                    let hint = &mut hints[port as usize];
                    flight.take(&mut events, &packet(flow), (port, at, span), hint);
                }
                // time goes on in steps that make instants coincide
                let later = now + Time::from_ns(100 * draw(3));
                while let Some((&(at, port), &flow)) = sorted.first_key_value()
                    && at < later
                {
                    let onward = draw(50) as u32;
                    let span = time(onward, draw(spans));
                    sorted.pop_first();
                    let anew = draw(3) == 0 && !sorted.contains_key(&(at + span, onward));
                    if !anew {
                        let (found, by_lane) = next(&mut flight, &mut events, free);
                        *(if by_lane { &mut laned } else { &mut parcels }) += 1;
                        assert_eq!((found.at, found.prev_port, found.flow), (at, port, flow));
                        continue;
                    }
                    sorted.insert((at + span, onward), flow);
                    let hint = Cell::new(hints[onward as usize]);
                    let (found, by_lane) =
                        next(&mut flight, &mut events, |flight, events, parcel, packet| {
                            let way = (onward, at + span, span);
                            hint.set(send_on(flight, events, (parcel, packet), way, hint.get()));
                        });
                    hints[onward as usize] = hint.get();
                    again[usize::from(by_lane)] += 1;
                    assert_eq!((found.at, found.prev_port, found.flow), (at, port, flow));
                }
                now = later;
            }
            let held = flight.packets(&events).count();
            assert_eq!(held, sorted.len());
            // four lanes are enough for three times, and eight too few where any port has any
            assert_eq!(flight.lanes.uses_all(), alike, "{spans} times");
        }
        assert!(laned > 20_000 && parcels > 1_000, "{laned} in lanes, {parcels} parcels");
        assert!(again.iter().all(|&count| count > 1_000), "{again:?} set out anew");
    }

    /// By hand: at one instant ports 4, 2 and 5 send over links alike; the packet of port 2
    /// has to be delivered first, so the lane of the others does not take it.
    #[test]
    fn a_tie_in_the_wrong_order_of_ports_is_no_matter_for_a_lane() {
        let (mut flight, mut events) = (Flight::new(), Events::default());
        let (at, span) = (Time::from_ms(1), Time::from_ms(1));
        for port in [4, 2, 5] {
            flight.take(&mut events, &packet(0), (port, at, span), &mut 0);
        }
        let found = [(); 3].map(|()| next(&mut flight, &mut events, free));
        assert_eq!(found.map(|(packet, _)| packet.prev_port), [2, 4, 5]);
        assert_eq!(found.map(|(_, by_lane)| by_lane), [false, true, true]);
        assert!(flight.first() > last_at(Time::from_secs(1_000_000)));
    }
}
