//! Packets that pass the interface and not the gate.
//!
//! A filter with a lower priority number, a program at another hook or a socket that goes
//! past the queue can take packets before the gate sees them. The interface counts every
//! packet; if the gate saw less than half of the bytes in two epochs in a row, that is
//! reported. Large packets have fewer bytes at the hook than on the wire, by a few percent.

use super::link::Traffic;

/// An epoch with fewer packets says nothing.
const FEWEST: u64 = 20;
/// Epochs in a row.
const EPOCHS: u32 = 2;

/// Compares what passed an interface in one direction with what the gate saw.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bypass {
    before: Option<(Traffic, u64)>,
    /// Epochs in a row that contradict the present state.
    contrary: u32,
    reported: bool,
    share: f64,
}

impl Bypass {
    /// An epoch has ended: all that the interface and the program counted so far.
    pub fn epoch(&mut self, passed: Traffic, seen: u64) {
        let Some((then, seen_then)) = self.before.replace((passed, seen)) else { return };
        let packets = passed.packets.saturating_sub(then.packets);
        let bytes = passed.bytes.saturating_sub(then.bytes);
        if packets < FEWEST || bytes == 0 {
            return;
        }
        let share = 1.0 - seen.saturating_sub(seen_then) as f64 / bytes as f64;
        self.contrary = if (share > 0.5) == self.reported { 0 } else { self.contrary + 1 };
        if self.contrary >= EPOCHS {
            (self.reported, self.contrary) = (!self.reported, 0);
        }
        self.share = share.max(0.0);
    }

    /// The share of the bytes that the gate does not see, if that is most of them.
    pub fn share(&self) -> Option<f64> {
        self.reported.then_some(self.share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epochs(each: &[(u64, u64, u64)]) -> Vec<Option<u32>> {
        let (mut bypass, mut passed, mut seen) = (Bypass::default(), Traffic::default(), 0);
        bypass.epoch(passed, seen);
        let mut found = Vec::new();
        for (packets, bytes, of_these) in each {
            passed = Traffic { packets: passed.packets + packets, bytes: passed.bytes + bytes };
            seen += of_these;
            bypass.epoch(passed, seen);
            found.push(bypass.share().map(|share| (100.0 * share).round() as u32));
        }
        found
    }

    // By hand: 1000 of 10000 bytes seen is nine tenths past the gate; the second epoch reports it.
    #[test]
    fn two_epochs_in_which_most_bytes_pass_by_are_reported() {
        let past = (100, 10_000, 1_000);
        let all = (100, 10_000, 9_500);
        assert_eq!(epochs(&[past, past, all, all]), [None, Some(90), Some(5), None]);
        assert_eq!(epochs(&[past, all, past, all]), [None; 4]);
    }

    // What a full queue drops was seen and not sent; a quiet interface says nothing.
    #[test]
    fn losses_behind_the_gate_and_few_packets_are_no_bypass() {
        assert_eq!(epochs(&[(100, 10_000, 30_000); 3]), [None; 3]);
        assert_eq!(epochs(&[(19, 1_900, 0); 3]), [None; 3]);
    }
}
