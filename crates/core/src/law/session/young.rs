//! Which packets belong to flows that this gate admitted recently.
//!
//! A flow is *young* until a number of its packets have been queued since its opening packet was
//! admitted. A table of small counters, indexed by a hash of the flow, knows that: an admitted
//! opening packet sets the counter to zero, each packet adds one, and the counter stops at its
//! maximum. A flow that was never admitted here finds a counter at its maximum and is old; so is a
//! flow that collides with an old one. A table that is too small therefore reports old where it
//! should report young. Entries do not identify flows, so nobody can push another flow out of the
//! table.
//!
//! A counter is a byte. Where a flow is young for more than 255 packets, only one packet in `2^k`
//! is counted, drawn by a fixed sequence; `k` is the least with which the counter suffices. The
//! first two packets of a flow are always counted: what comes behind the opening packet tells that
//! the session was answered.

use crate::law::settings::Setting;
use crate::units::Rate;

crate::settings! {
    /// The table of young flows.
    #[derive(Copy)]
    "Young", check:
    cells: u32 = 65536 [16 to 16777216] "Counters, a byte each" ("4096 are too few for fifty endless flows");
    packets: Setting = { Setting::Auto } [1 to 1e6] "Number of packets for which a flow is young: a flow with at most that many is a session, a longer one is left to TCP. Default auto: 255, and on links above 10 Mbit/s in proportion to their rate" ("ours");
    sample: u32 = 1 [1 to 65536] "One flow in this many is watched, for links where watching all costs too much";
}

/// The rate up to which a flow is young for as many packets as a byte counts, in bytes/s. So a
/// session takes a third of a second of a faster link, whatever its rate.
const SLOW: f64 = 1_250_000.0;

impl Config {
    /// Packets for which a flow is young, at a link of this rate.
    pub fn packets_at(&self, rate: Rate) -> f64 {
        let scaled = f64::from(u8::MAX) * (rate.bytes_per_s() / SLOW).max(1.0);
        self.packets.or(scaled.min(1e6))
    }

    /// The settings at a link of this rate, with nothing left open.
    #[must_use]
    pub fn at(self, rate: Rate) -> Config {
        Config { packets: Setting::Is(self.packets_at(rate)), ..self }
    }

    fn packets(&self) -> u32 {
        self.packets.or(f64::from(u8::MAX)) as u32
    }

    /// One packet in `2^k` is counted.
    pub fn k(&self) -> u32 {
        k_of(self.packets())
    }

    /// Counts for which a flow is young.
    pub fn counts(&self) -> u32 {
        self.packets() >> self.k()
    }
}

/// The least `k` with which a byte counts so many packets, one in `2^k`.
fn k_of(packets: u32) -> u32 {
    (0..).find(|k| packets >> k <= u32::from(u8::MAX)).expect("a number has 32 bits")
}

/// What a queued packet tells of its flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Age {
    /// The flow is young.
    pub young: bool,
    /// It is the first packet behind the one that opened the flow.
    pub second: bool,
}

/// Packets of a flow that are always counted.
const FIRST: u8 = 2;

/// The counters.
#[derive(Clone, Debug)]
pub struct Young {
    cells: Box<[u8]>,
    counts: u8,
    sample: u64,
    k: u32,
    /// Packets so far, of any flow.
    seen: u64,
}

impl Young {
    /// Every counter at its maximum: nothing was admitted yet.
    pub fn new(config: Config) -> Young {
        let cells = vec![u8::MAX; config.cells.max(1) as usize].into_boxed_slice();
        let counts = u8::try_from(config.counts()).unwrap_or(u8::MAX);
        Young { cells, counts, sample: u64::from(config.sample.max(1)), k: config.k(), seen: 0 }
    }

    /// Index of the counter for this hash; none if the flow is not watched. The low half of the
    /// hash decides eligibility, so the index uses the high half.
    #[inline]
    fn place(&self, hash: u64) -> Option<usize> {
        let high = hash >> 32;
        let watched = self.sample == 1 || high.is_multiple_of(self.sample);
        watched.then(|| (high / self.sample % self.cells.len() as u64) as usize)
    }

    /// From now on a flow is young for so many packets. What was counted stays as it is, in the new
    /// measure.
    pub fn last(&mut self, packets: u32) {
        let (k, before) = (k_of(packets), self.k);
        self.counts = u8::try_from(packets >> k).unwrap_or(u8::MAX);
        if k == before {
            return;
        }
        self.k = k;
        for cell in self.cells.iter_mut().filter(|cell| (FIRST..u8::MAX).contains(cell)) {
            let counted = u32::from(*cell) << before >> k;
            *cell = u8::try_from(counted).unwrap_or(u8::MAX).max(FIRST);
        }
    }

    /// The opening packet of this flow is admitted.
    #[inline]
    pub fn admit(&mut self, hash: u64) {
        if let Some(place) = self.place(hash) {
            self.cells[place] = 0;
        }
    }

    /// A packet of this flow is queued. Returns how old the flow is; none if it is not watched.
    #[inline]
    pub fn queue(&mut self, hash: u64) -> Option<Age> {
        let place = self.place(hash)?;
        let before = self.cells[place];
        if self.k == 0 || before < FIRST || self.drawn() {
            self.cells[place] = before.saturating_add(1);
        }
        Some(Age { young: before < self.counts, second: before == 1 })
    }

    /// Whether the next packet is one of those in `2^k` that are counted: by the golden ratio, so
    /// that flows whose packets take turns are counted alike. A kernel's program, which sees segments
    /// of one packet together, counts so many of `n`: this part of `2^k`, plus `n`, over `2^k`.
    fn drawn(&mut self) -> bool {
        self.seen = self.seen.wrapping_add(1);
        let part = !self.seen.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - self.k);
        (part + 1) >> self.k == 1
    }
}
