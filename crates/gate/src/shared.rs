//! Structures that the controller shares with the programs in the kernel (`bpf/gate.h`).
//!
//! If the two layouts differ, the build fails.

use std::mem::offset_of;

use tidegate_core::law::session::{Counts, Knobs};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, transmute};

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

/// Counted per CPU; only grows.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Tally {
    /// Opening packets that came.
    pub arrived: u64,
    /// Of these, how many passed.
    pub admitted: u64,
    /// Sessions that ended.
    pub departed: u64,
    /// Sessions that were reset.
    pub resets: u64,
    /// Of the openers, how many were eligible.
    pub eligible: u64,
    /// Bytes of sampled flows.
    pub watched_bytes: u64,
    /// Of these, bytes of young flows.
    pub young_bytes: u64,
    /// Bytes that the program at ingress saw.
    pub incoming_bytes: u64,
    /// Clients with an admitted connection, once in a round.
    pub served: u64,
    /// Clients that were refused before that.
    pub waited: u64,
    /// Clients that were let in, and connections beyond a share that took a token.
    pub let_in: u64,
    /// Openers of clients that were in already.
    pub inside: u64,
    /// Admitted sessions of which a packet came in behind the SYNs.
    pub answered: u64,
    /// Sessions of QUIC of which nothing came for a while.
    pub idle_ended: u64,
    /// Openers that dual-queue management decided about.
    pub asked: u64,
    /// Packets for whose flow it was drawn whether its counter counts them.
    pub drawn: u64,
    /// Packets by fate.
    pub packets: [u64; Fate::COUNT],
    /// Bytes by fate.
    pub bytes: [u64; Fate::COUNT],
}

const _: () = assert!(
    size_of::<Tally>() == 128 + 2 * 8 * Fate::COUNT
        && offset_of!(Tally, departed) == 16
        && offset_of!(Tally, eligible) == 32
        && offset_of!(Tally, young_bytes) == 48
        && offset_of!(Tally, incoming_bytes) == 56
        && offset_of!(Tally, served) == 64
        && offset_of!(Tally, answered) == 96
        && offset_of!(Tally, drawn) == 120
        && offset_of!(Tally, packets) == 128
);

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

/// Set before a program is loaded; constant from then on.
#[derive(Clone, Copy, PartialEq, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Settings {
    /// Which packet opens a session: 0 SYN, 1 SYN+ACK, 2 either.
    pub opener: u32,
    /// 0 counter, 1 token bucket, 2 one that saves the tokens of an epoch.
    pub limiter: u32,
    /// How an end is counted once: 0 every one counts, 1 cells, 2 a map of flows.
    pub ends: u32,
    /// Whether packets start with an Ethernet header.
    pub ethernet: u32,
    /// Cells of connections of QUIC; zero: Initials are only counted.
    pub quic_cells: u32,
    /// Whether the length of the interface's queue may be read.
    pub read_queue: u32,
    /// Whether `GateControl::test_now_ns` replaces the clock.
    pub test_clock: u32,
    /// Words of 64 cells in one generation of ends.
    pub end_words: u32,
    /// Dual queue: the last entry of the table of shares; zero: there is none.
    pub queue_limit: u32,
    /// Dual queue: transmission time of one packet, ns.
    pub service_ns: u32,
    /// Dual queue: weight of a new length, of 2^16.
    pub ewma_weight: u32,
    /// Whether a hash of its flow decides whether an opener is eligible.
    pub hashed: u32,
    /// A secret of the hashes: others cannot choose flows by their cell.
    pub salt: u64,
    /// Counters of packets by which young flows are known, a multiple of 8; zero: none.
    pub young_cells: u32,
    /// A flow is young for this many counted packets.
    pub young_packets: u32,
    /// One flow in this many is sampled.
    pub young_sample: u32,
    /// Whether a session ends with the FIN that comes in, or with the one that leaves.
    pub ends_of_peer: u32,
    /// Whether a download opens with the SYN that comes in, or with the SYN+ACK that leaves.
    pub syn_in: u32,
    /// Cells of clients; zero: each connection is judged by itself.
    pub client_cells: u32,
    /// Ticks of 2^20 ns after which a client that opens no connection is no longer let in.
    pub client_idle: u32,
    /// Bits of an IPv4 address that name a client.
    pub client_prefix4: u32,
    /// Bits of an IPv6 address that name a client, 64 at most.
    pub client_prefix6: u32,
    /// Words of 64 cells for admitted sessions without an answer; zero: answers are not counted.
    pub answer_words: u32,
    /// Ticks after which a client that was refused is overdue.
    pub client_wait: u32,
    /// Whether the counters of young flows tell of sessions with an answer.
    pub answers_by_age: u32,
    /// A connection of QUIC has ended when nothing came for so long, ms.
    pub quic_idle_ms: u32,
    /// One packet in `2^k` is counted for young flows, and the first two of each.
    pub young_k: u32,
    /// Visits: ticks after the end of a connection in which one begins; zero: there are none.
    pub follow: u32,
    /// Ticks that a visit goes on after each end.
    pub visit: u32,
    /// A view by client: 0 none, 1 its openers, 2 also the bytes that leave to it, 3 from it.
    pub who: u32,
    /// A multiple of eight bytes.
    pub unused: u32,
}

const _: () = assert!(
    size_of::<Settings>() == 128
        && offset_of!(Settings, ends) == 8
        && offset_of!(Settings, test_clock) == 24
        && offset_of!(Settings, ewma_weight) == 40
        && offset_of!(Settings, hashed) == 44
        && offset_of!(Settings, salt) == 48
        && offset_of!(Settings, young_sample) == 64
        && offset_of!(Settings, ends_of_peer) == 68
        && offset_of!(Settings, syn_in) == 72
        && offset_of!(Settings, client_cells) == 76
        && offset_of!(Settings, client_prefix6) == 88
        && offset_of!(Settings, answer_words) == 92
        && offset_of!(Settings, client_wait) == 96
        && offset_of!(Settings, answers_by_age) == 100
        && offset_of!(Settings, quic_idle_ms) == 104
        && offset_of!(Settings, follow) == 112
        && offset_of!(Settings, who) == 120
);

/// Written by the controller at any time.
#[derive(Clone, Copy, PartialEq, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct GateControl {
    /// Decisions hold until then, by the monotonic clock, ns.
    pub lease_ns: u64,
    /// The interval that runs; its last bit says which knobs are in force.
    pub turn: u32,
    /// Zero: decide and count, but refuse nothing.
    pub enforce: u32,
    /// Which half of the cells takes new ends.
    pub end_generation: u32,
    /// Largest refused share of an interval's arrivals, of 2^16.
    pub ceiling: u32,
    /// The time, in tests.
    pub test_now_ns: u64,
}

const _: () = assert!(
    size_of::<GateControl>() == 32
        && offset_of!(GateControl, turn) == 8
        && offset_of!(GateControl, enforce) == 12
        && offset_of!(GateControl, end_generation) == 16
        && offset_of!(GateControl, ceiling) == 20
        && offset_of!(GateControl, test_now_ns) == 24
);

impl Default for GateControl {
    /// Without a lease, and without a ceiling.
    fn default() -> GateControl {
        GateControl {
            lease_ns: 0,
            turn: 0,
            enforce: 0,
            end_generation: 0,
            ceiling: 1 << 16,
            test_now_ns: 0,
        }
    }
}

/// The queue of the interface, as a program read it.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Observed {
    /// Fewest waiting packets since the last reset.
    pub min_queue: u32,
    /// Whether the queue was read since.
    pub seen: u32,
}

const _: () = assert!(size_of::<Observed>() == 8);

// The map has the layout of `Knobs`.
const _: () = assert!(
    size_of::<Knobs>() == 56
        && offset_of!(Knobs, allowance) == 0
        && offset_of!(Knobs, token_interval_ns) == 8
        && offset_of!(Knobs, token_depth_ns) == 16
        && offset_of!(Knobs, pass_all) == 24
        && offset_of!(Knobs, shut) == 28
        && offset_of!(Knobs, phase) == 32
        && offset_of!(Knobs, bypass) == 36
        && offset_of!(Knobs, share) == 40
        && offset_of!(Knobs, round) == 44
        && offset_of!(Knobs, spare) == 48
        && offset_of!(Knobs, young) == 52
);

/// The bytes of the knobs in the map.
pub fn knobs_bytes(knobs: &Knobs) -> [u8; size_of::<Knobs>()] {
    let mut bytes = [0; size_of::<Knobs>()];
    bytes[..8].copy_from_slice(&knobs.allowance.to_ne_bytes());
    bytes[8..16].copy_from_slice(&knobs.token_interval_ns.to_ne_bytes());
    bytes[16..24].copy_from_slice(&knobs.token_depth_ns.to_ne_bytes());
    bytes[24..28].copy_from_slice(&knobs.pass_all.to_ne_bytes());
    bytes[28..32].copy_from_slice(&knobs.shut.to_ne_bytes());
    bytes[32..36].copy_from_slice(&knobs.phase.to_ne_bytes());
    bytes[36..40].copy_from_slice(&knobs.bypass.to_ne_bytes());
    bytes[40..44].copy_from_slice(&knobs.share.to_ne_bytes());
    bytes[44..48].copy_from_slice(&knobs.round.to_ne_bytes());
    bytes[48..52].copy_from_slice(&knobs.spare.to_ne_bytes());
    bytes[52..56].copy_from_slice(&knobs.young.to_ne_bytes());
    bytes
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
