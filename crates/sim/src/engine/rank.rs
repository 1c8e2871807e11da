//! The order of a few events, found without a branch on what is compared.

use super::{FINE_BITS, ps_of};

/// Sorts the events of one slot, the latest first.
#[inline]
pub(super) fn put_latest_first(due: &mut [u128]) {
    match due.len() {
        0 | 1 => {}
        2 => {
            if due[0] < due[1] {
                due.swap(0, 1);
            }
        }
        3..=8 => put_by_rank::<8>(due),
        9..=16 => put_by_rank::<16>(due),
        _ => due.sort_unstable_by(|one, two| two.cmp(one)),
    }
}

/// The same for at most `N`: how many are later is the place of each. No branch
/// depends on what is compared, which no predictor could guess.
#[inline(always)]
fn put_by_rank<const N: usize>(due: &mut [u128]) {
    let mut keys = [0; N];
    // within a slot the low bits of the time tell; the place makes them differ
    let mut near = [-1; N];
    for (place, (event, (key, near))) in due.iter().zip(keys.iter_mut().zip(&mut near)).enumerate()
    {
        *key = *event;
        *near = ((ps_of(*event) as i32 & ((1 << FINE_BITS) - 1)) << 4) | place as i32;
    }
    for (place, key) in keys.into_iter().enumerate().take(due.len()) {
        let later: i32 = near.iter().map(|other| i32::from(*other > near[place])).sum();
        due[later as usize] = key;
    }
    if due.windows(2).any(|pair| pair[0] < pair[1]) {
        // two at one instant
        due.sort_unstable_by(|one, two| two.cmp(one));
    }
}

const _: () = assert!(FINE_BITS + 4 < 31, "time and place fit into one signed number");
