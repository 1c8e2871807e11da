//! Draws for tests that play against a simpler model.

/// Gives numbers below each bound that it is called with, the same ones in each test.
pub(crate) fn draws() -> impl FnMut(u64) -> u64 {
    let mut state = 1u64;
    move |below| {
        // Numerical Recipes' linear congruence; any scrambling will do here
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    }
}
