//! Randomness of SYN retries.

use rand::RngExt;
use rand_pcg::Pcg64;
use tidegate_model::draw::stream;

/// Randomness of SYN retries.
pub(crate) struct JitterDraw(Pcg64);

impl JitterDraw {
    /// The draws of a class.
    pub(crate) fn new(seed: u64, class: &str) -> JitterDraw {
        JitterDraw(stream(seed, class, "syn-jitter"))
    }

    pub(crate) fn uniform(&mut self) -> f64 {
        self.0.random()
    }
}
