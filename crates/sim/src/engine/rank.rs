//! Sorts a few events without a branch on the compared values.

use super::key::{FINE_BITS, ps_of};

/// Writes the events of one slot into `due`, the latest first.
#[inline]
pub(super) fn put_latest_first(fresh: &[u128], due: &mut [u128]) {
    match *fresh {
        [] => {}
        [only] => due[0] = only,
        [one, two] => (due[0], due[1]) = (one.max(two), one.min(two)),
        _ => put_in_order(fresh, due),
    }
}

#[inline]
fn put_in_order(fresh: &[u128], due: &mut [u128]) {
    match fresh.len() {
        0..=8 => put_by_rank::<8>(fresh, due),
        9..=12 => put_by_rank::<12>(fresh, due),
        13..=16 => put_by_rank::<16>(fresh, due),
        17..=24 => put_by_rank::<24>(fresh, due),
        _ => {
            due.copy_from_slice(fresh);
            due.sort_unstable_by(|one, two| two.cmp(one));
        }
    }
}

/// The same for at most `N` events: the place of each is the number of later ones. No branch depends
/// on a comparison, whose result no predictor could guess.
#[inline(always)]
fn put_by_rank<const N: usize>(fresh: &[u128], due: &mut [u128]) {
    // within a slot the low bits of the time decide; the place makes equal ones differ
    let mut near = [-1; N];
    for (place, (event, near)) in fresh.iter().zip(&mut near).enumerate() {
        *near = ((ps_of(*event) as i32 & ((1 << FINE_BITS) - 1)) << 5) | place as i32;
    }
    // one event against all at a time, which needs no sum across a register
    let mut later = [0; N];
    for other in near.iter().take(fresh.len()) {
        for (later, own) in later.iter_mut().zip(&near) {
            *later += i32::from(other > own);
        }
    }
    for (later, event) in later.iter().zip(fresh) {
        due[*later as usize] = *event;
    }
    if due.windows(2).any(|pair| pair[0] < pair[1]) {
        // two at one instant
        due.sort_unstable_by(|one, two| two.cmp(one));
    }
}

const _: () = assert!(FINE_BITS + 5 < 31, "time and place fit into one signed number");
