//! Random numbers for tests.

use tidegate_core::law::Draw;

/// Where nothing is random.
pub struct Never;

impl Draw for Never {
    fn uniform(&mut self) -> f64 {
        panic!("nothing here is random")
    }
}

/// Always the same number: zero drops wherever there is a chance to.
pub struct Always(pub f64);

impl Draw for Always {
    fn uniform(&mut self) -> f64 {
        self.0
    }
}

/// Uniform numbers (Marsaglia's xorshift64*).
pub struct Uniform(pub u64);

impl Draw for Uniform {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    }
}
