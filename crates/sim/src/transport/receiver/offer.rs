//! What a receiver offers, by its receive buffer ([`Offer`]).

use tidegate_core::packet::Packet;
use tidegate_core::units::Time;

use super::aside::Aside;
use super::{Receiver, State};
use crate::transport::Ctx;
use crate::transport::ranges::Ranges;
use crate::transport::receive_window::Offer;

impl Receiver {
    /// The handshake is complete: its last packet left then.
    #[inline(never)]
    pub(super) fn offer_opens(&mut self, sent: Time, ctx: &Ctx<'_>) {
        let now = ctx.net.now;
        let here = now.saturating_sub(sent);
        let begun = matches!(self.state, State::SynSent | State::SynReceived);
        // without a handshake both ways count as equal
        let round = if begun { now.saturating_sub(ctx.timeouts.own) } else { here + here };
        if let Some((offer, _)) = self.offer() {
            offer.open(now, round, here);
        }
    }

    /// Whether its acknowledgements tell of a window.
    #[inline]
    pub(super) fn is_offering(&self) -> bool {
        self.aside.as_ref().is_some_and(|aside| aside.offer.is_some())
    }

    /// What it offers, and what has come beyond a hole.
    #[inline]
    fn offer(&mut self) -> Option<(&mut Offer, &Ranges)> {
        let Aside { offer, beyond, .. } = &mut **self.aside.as_mut()?;
        Some((offer.as_mut()?, beyond))
    }

    /// A segment has come that is new. Where it lets the window grow it is acknowledged at once. One
    /// beyond a hole does so with SACK alone: without it three equal acknowledgements tell of the
    /// hole. One in order has to be of 128 bytes.
    #[inline(never)]
    pub(super) fn widen(&mut self, packet: &Packet, in_order: bool, ctx: &Ctx<'_>) {
        let next = self.next;
        let Some(memory) = &ctx.class.memory else { return };
        let Some((offer, beyond)) = self.offer() else { return };
        offer.time(ctx.net.now, packet.sent);
        let counts = if in_order {
            u32::from(packet.size) >= ctx.class.tcp.header + 128
        } else {
            ctx.class.sack()
        };
        // one in order is in the buffer until it is read; one beyond a hole goes there later
        let others = if in_order { beyond.count() + 1 } else { beyond.count() - 1 };
        let grows = counts && offer.grow(others, memory);
        if !in_order {
            offer.make_room(span(next, beyond), memory);
        }
        if grows && self.state == State::Open {
            self.tally |= 1;
        }
    }

    /// So many quick acknowledgements at the most, as the window has room for twice as many segments
    /// (Linux: `tcp_incr_quickack`).
    #[inline]
    pub(super) fn quick(&self, most: u8) -> u8 {
        let offer = self.aside.as_ref().and_then(|aside| aside.offer.as_ref());
        let half = match offer.map_or(u32::MAX, |offer| offer.window() / 2) {
            0 => 2,
            half => half,
        };
        half.min(most.into()) as u8
    }

    /// The application reads what has come in order.
    #[inline(never)]
    pub(super) fn read(&mut self, ctx: &Ctx<'_>) {
        let (now, next) = (ctx.net.now, self.next);
        let Some(memory) = &ctx.class.memory else { return };
        let Some((offer, beyond)) = self.offer() else { return };
        if offer.is_round_over(now) {
            offer.adjust(now, next, span(next, beyond), memory);
        }
    }

    /// What the number of an acknowledgement tells of the window.
    #[inline(never)]
    pub(super) fn tell_of_window(&mut self, ctx: &Ctx<'_>) -> u32 {
        let next = self.next;
        let Some(memory) = &ctx.class.memory else { return 0 };
        let Some((offer, beyond)) = self.offer() else { return 0 };
        Packet::number_of_window(offer.offer(next, beyond.count(), memory))
    }
}

/// Segments from the next one expected to behind the last one that has come.
#[inline]
fn span(next: u32, beyond: &Ranges) -> u32 {
    beyond.last().map_or(0, |(_, end)| end.saturating_sub(next))
}
