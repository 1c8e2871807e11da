//! Benchmarks only: `cargo bench --package tidegate-benches`.
