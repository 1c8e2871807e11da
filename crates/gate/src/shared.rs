//! Structures that the controller shares with the programs in the kernel.
//!
//! Their fields are in `bpf/gate.h`, of which the build makes them (`build/layout.rs`).

use tidegate_core::law::session::{Counts, Knobs};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, transmute};

include!(concat!(env!("OUT_DIR"), "/shared.rs"));

tidegate_core::named! {
    /// The decision about a packet, in the order of its counter.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    #[repr(usize)]
    Fate:
    /// TCP that neither opens nor ends a session.
    Other = "other_tcp",
    /// Opened a session.
    Admitted = "admitted",
    /// Opened one that is never refused.
    Exempt = "exempt",
    /// Was refused.
    Refused = "session_refused",
    /// Would have been refused, but the gate only observes.
    WouldRefuse = "would_refuse",
    /// Admitted, as the refused share was at its ceiling.
    Ceiling = "ceiling",
    /// Admitted, as the controller's lease had lapsed.
    Lapsed = "lease_lapsed",
    /// A FIN or a reset.
    End = "end",
    /// A QUIC Initial that passed.
    QuicAdmitted = "quic_admitted",
    /// One that was refused.
    QuicRefused = "quic_refused",
    /// Other UDP: its sessions are not visible.
    Udp = "other_udp",
    /// Encrypted or in a tunnel: sessions not visible.
    Opaque = "opaque",
    /// A later fragment: no TCP header.
    Fragment = "fragment",
    /// Another protocol of IP: ICMP, SCTP, tunnels that are not listed.
    OtherIp = "other_ip",
    /// ARP, MPLS and the like.
    NotIp = "not_ip",
    /// Truncated or not understood.
    Malformed = "malformed",
    /// Refused by the length of the queue.
    Connection = "connection",
    /// QUIC of a connection that is known.
    Quic = "quic",
}

impl Fate {
    /// Whether sessions are not visible in such a packet.
    pub const fn unseen(self) -> bool {
        use Fate::{Fragment, Malformed, NotIp, Opaque, OtherIp, Udp};
        matches!(self, Udp | Opaque | Fragment | OtherIp | NotIp | Malformed)
    }
}

/// A tally as its counters, one after the other.
type Words = [u64; size_of::<Tally>() / 8];

/// Bytes with which a share of them begins to say something.
const TELLING: u64 = 100_000;
/// ARP, ICMP and ICMPv6 hide no session. The counters do not tell them from other protocols, whose
/// packets are larger than this on average where they carry sessions, but for the way back.
const CHATTER: u64 = 200;

impl Tally {
    /// Bytes of one fate, without those of packets that hide no session: most of an idle interface's.
    pub fn telling(&self, fate: Fate) -> u64 {
        let (packets, bytes) = (self.packets[fate as usize], self.bytes[fate as usize]);
        let other = matches!(fate, Fate::OtherIp | Fate::NotIp);
        if other && bytes < packets.saturating_mul(CHATTER) { 0 } else { bytes }
    }

    /// The share of the bytes in which sessions are not visible; none: too little has passed to tell.
    pub fn unseen_share(&self) -> Option<f64> {
        let sum =
            |fates: &mut dyn Iterator<Item = Fate>| fates.map(|fate| self.telling(fate)).sum();
        let all: u64 = sum(&mut Fate::ALL.into_iter());
        let unseen: u64 = sum(&mut Fate::ALL.into_iter().filter(|fate| fate.unseen()));
        (all >= TELLING).then(|| unseen as f64 / all as f64)
    }

    /// The sum with the counts of another CPU.
    #[must_use]
    pub fn with(&self, other: &Tally) -> Tally {
        let (mut sum, other): (Words, Words) = (transmute!(*self), transmute!(*other));
        for (count, more) in sum.iter_mut().zip(other) {
            *count = count.wrapping_add(more);
        }
        transmute!(sum)
    }

    /// Openers that passed, or would have in observe mode: what the law admitted, less what dual-queue
    /// management refused behind it.
    pub fn passed(&self) -> u64 {
        let refused = [Fate::Refused, Fate::QuicRefused, Fate::WouldRefuse, Fate::Connection];
        let refused: u64 = refused.into_iter().map(|fate| self.of(fate)).sum();
        // with `opener = "syn"` dual-queue management is asked about more than openers
        self.arrived.saturating_sub(refused).min(self.admitted)
    }

    /// Packets of one fate.
    pub fn of(&self, fate: Fate) -> u64 {
        self.packets[fate as usize]
    }

    /// The counts that a law reads.
    pub fn counts(&self) -> Counts {
        Counts {
            arrived: self.arrived,
            admitted: self.admitted,
            departed: self.departed,
            resets: self.resets,
            eligible: self.eligible,
            bytes: self.watched_bytes,
            young_bytes: self.young_bytes,
            served: self.served,
            waited: self.waited,
            let_in: self.let_in,
            inside: self.inside,
            ..Counts::default()
        }
    }
}

impl Default for GateControl {
    /// Without a lease, and without a ceiling.
    fn default() -> GateControl {
        GateControl { ceiling: 1 << 16, ..FromZeros::new_zeroed() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A fate indexes the counters: the list is in the order of the numbers, without a gap.
    #[test]
    fn fates_are_in_the_order_of_their_counters() {
        for (index, fate) in Fate::ALL.into_iter().enumerate() {
            assert_eq!(fate as usize, index, "{}", fate.name());
        }
    }

    // An idle interface was said not to show 100 % of the bytes: all of them were ARP.
    #[test]
    fn a_few_bytes_say_nothing_of_what_is_not_seen() {
        let mut tally = Tally::default();
        tally.packets[Fate::NotIp as usize] = 100;
        tally.bytes[Fate::NotIp as usize] = 4_200;
        assert_eq!(tally.unseen_share(), None);
        // nor does a day of it
        tally.packets[Fate::NotIp as usize] = 100_000;
        tally.bytes[Fate::NotIp as usize] = 4_200_000;
        assert_eq!(tally.unseen_share(), None);
        tally.bytes[Fate::Other as usize] = 300_000;
        assert_eq!(tally.unseen_share(), Some(0.0));
        // L2TPv3 of large packets does hide sessions
        tally.packets[Fate::OtherIp as usize] = 100;
        tally.bytes[Fate::OtherIp as usize] = 100_000;
        assert_eq!(tally.unseen_share(), Some(0.25));
    }
}
