//! What quinn's CUBIC takes from the platform: `cbrt` for K and `powi` for the cube.

use std::hint::black_box;

/// `powi(3)` is two multiplications, which IEEE 754 rounds alike everywhere; their order does not
/// change a cube.
#[test]
fn a_cube_is_two_multiplications() {
    for step in -4_000_i32..4_000 {
        let t = black_box(f64::from(step) * 0.001_37);
        assert_eq!(t.powi(3).to_bits(), (t * (t * t)).to_bits(), "{t}");
    }
}

/// `cbrt` is the C library's or, where the target is glibc, Rust's own (1.95). For the windows of 1
/// to 20000 packets (RFC 9438, figure 2) it is within two units in the last place of that of the
/// crate `libm`, which is the same code on every machine.
#[test]
fn cube_roots_are_those_of_libm_up_to_the_last_places() {
    let differ = |window: u32| {
        let of = black_box(f64::from(window) * (1.0 - 0.7) / 0.4);
        of.cbrt().to_bits().abs_diff(libm::cbrt(of).to_bits())
    };
    let most = (1..=20_000).map(differ).max();
    let some = (1..=20_000).filter(|&window| differ(window) > 0).count();
    println!("{some} of 20000 differ");
    assert!(most <= Some(2), "{most:?}");
}
