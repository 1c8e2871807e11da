//! Trust between neighbours: a shared key per link, authentication codes, and sequence numbers that
//! are never repeated.
//!
//! A sequence number is the requester's clock in microseconds since 1970, but always above its last
//! one. So it grows over a restart of the requester. A receiver needs no state from before its own
//! start: it cannot distinguish an older number from a repetition, and refuses it. A node whose
//! clock is wrong by more than [`FRESH`] has its requests refused until the clock is right;
//! existing filters stay.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tidegate_core::active::message::TAG;
use tidegate_core::active::{Header, signed_part};

use super::reason::Reason;

/// Largest difference of the clocks of neighbours, in microseconds.
pub const FRESH: u64 = 30_000_000;

/// The state shared with one neighbour.
pub struct Trust {
    code: Hmac<Sha256>,
    /// The last sequence number that was sent.
    sent: u64,
    /// The last accepted one, or the time at which this node started.
    taken: u64,
}

impl Trust {
    /// With the key of the link, at a node that starts now (microseconds since 1970).
    pub fn new(key: &[u8], clock_us: u64) -> Trust {
        let code = Hmac::new_from_slice(key).expect("HMAC takes keys of any length");
        Trust { code, sent: 0, taken: clock_us }
    }

    /// The sequence number of the next request.
    pub fn number(&mut self, clock_us: u64) -> u64 {
        self.sent = clock_us.max(self.sent + 1);
        self.sent
    }

    /// The authentication code of a request.
    pub fn sign(&self, header: &Header, payload: &[u8]) -> [u8; TAG] {
        let code = self.code.clone().chain_update(signed_part(header, payload)).finalize();
        let mut tag = [0; TAG];
        tag.copy_from_slice(&code.into_bytes()[..TAG]);
        tag
    }

    /// Checks that a request is from the neighbour, is not repeated, and is fresh.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn check(
        &mut self,
        header: &Header,
        payload: &[u8],
        tag: &[u8; TAG],
        sequence: u64,
        clock_us: u64,
    ) -> Result<(), Reason> {
        let code = self.code.clone().chain_update(signed_part(header, payload));
        code.verify_truncated_left(tag).map_err(|_| Reason::Forged)?;
        if sequence <= self.taken {
            return Err(Reason::Replayed);
        }
        if sequence.abs_diff(clock_us) > FRESH {
            return Err(Reason::Stale);
        }
        self.taken = sequence;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &[u8] = b"a key of the link, 32 bytes long";
    const START: u64 = 1_000_000_000;

    fn header() -> Header {
        Header { active: true, service: 1, ..Header::default() }
    }

    fn check(trust: &mut Trust, by: &Trust, sequence: u64, clock_us: u64) -> Result<(), Reason> {
        let tag = by.sign(&header(), &sequence.to_be_bytes());
        trust.check(&header(), &sequence.to_be_bytes(), &tag, sequence, clock_us)
    }

    // RFC 4231, test case 2: HMAC-SHA256 of "what do ya want for nothing?" under "Jefe" begins with
    // 5bdcc146bf60754e6a042426089575c7; the crate is asked through the very type that is used here.
    #[test]
    fn the_code_is_hmac_sha256() {
        let trust = Trust::new(b"Jefe", 0);
        let code = trust.code.clone().chain_update(b"what do ya want for nothing?").finalize();
        let expected = 0x5bdc_c146_bf60_754e_6a04_2426_0895_75c7u128.to_be_bytes();
        assert_eq!(code.into_bytes()[..TAG], expected);
    }

    #[test]
    fn another_key_and_another_content_are_forged() {
        let mut trust = Trust::new(KEY, START);
        let stranger = Trust::new(b"another", START);
        assert_eq!(check(&mut trust, &stranger, START + 1, START), Err(Reason::Forged));
        let tag = trust.sign(&header(), b"this");
        let refused = trust.check(&header(), b"that", &tag, START + 1, START);
        assert_eq!(refused, Err(Reason::Forged));
        let other = Header { number: 1, ..header() };
        assert_eq!(trust.check(&other, b"this", &tag, START + 1, START), Err(Reason::Forged));
    }

    // Each number is taken once, none after a later one, and none from before the start of who takes it:
    // a node that died and returned takes no request again that it took before.
    #[test]
    fn a_request_is_taken_once() {
        let asker = Trust::new(KEY, START);
        let mut trust = Trust::new(KEY, START);
        assert_eq!(check(&mut trust, &asker, START + 5, START + 5), Ok(()));
        assert_eq!(check(&mut trust, &asker, START + 5, START + 5), Err(Reason::Replayed));
        assert_eq!(check(&mut trust, &asker, START + 4, START + 5), Err(Reason::Replayed));
        assert_eq!(check(&mut trust, &asker, START + 6, START + 6), Ok(()));
        let mut again = Trust::new(KEY, START + 7);
        assert_eq!(check(&mut again, &asker, START + 6, START + 7), Err(Reason::Replayed));
    }

    // A forged one must not use up the numbers of the neighbour.
    #[test]
    fn a_forged_one_leaves_no_trace() {
        let asker = Trust::new(KEY, START);
        let mut trust = Trust::new(KEY, START);
        let _ = check(&mut trust, &Trust::new(b"x", START), START + 100, START);
        assert_eq!(check(&mut trust, &asker, START + 1, START), Ok(()));
    }

    #[test]
    fn what_is_too_old_or_too_far_ahead_is_stale() {
        let asker = Trust::new(KEY, START);
        let mut trust = Trust::new(KEY, START);
        let late = START + 1 + FRESH;
        assert_eq!(check(&mut trust, &asker, START + 1, late + 1), Err(Reason::Stale));
        assert_eq!(check(&mut trust, &asker, late + 1, START), Err(Reason::Stale));
        assert_eq!(check(&mut trust, &asker, START + 1, late), Ok(()));
    }

    // A clock that steps back: the numbers grow nevertheless, and within FRESH they are taken.
    #[test]
    fn numbers_grow_whatever_the_clock_does() {
        let mut asker = Trust::new(KEY, START);
        let mut trust = Trust::new(KEY, START - 1);
        for clock in [START + 1_000, START, START - 20_000_000] {
            let sequence = asker.number(clock);
            assert_eq!(check(&mut trust, &asker, sequence, START), Ok(()), "{clock}");
        }
    }
}
