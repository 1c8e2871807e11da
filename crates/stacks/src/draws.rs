//! Random numbers that follow from a seed.

/// A sequence of numbers: SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Clone)]
pub(crate) struct Draws(u64);

impl Draws {
    pub(crate) fn new(seed: u64) -> Draws {
        Draws(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed(self.0)
    }

    /// A sequence of its own.
    pub(crate) fn split(&mut self) -> Draws {
        Draws(self.next())
    }

    /// The seed of a generator.
    pub(crate) fn seed(&mut self) -> [u8; 32] {
        let mut seed = [0; 32];
        self.fill(&mut seed);
        seed
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&self.next().to_le_bytes()[..part.len()]);
        }
    }
}

/// Fills `hash` with numbers that follow from `data`.
pub(crate) fn hashed(data: &[u8], hash: &mut [u8]) {
    let fold = |state: u64, &byte: &u8| mixed(state ^ u64::from(byte)).wrapping_add(1);
    Draws(data.iter().fold(data.len() as u64, fold)).fill(hash);
}

fn mixed(state: u64) -> u64 {
    let state = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let state = (state ^ state >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ state >> 31
}
