//! Every line that ends in `// banned` breaks one rule of `crates/core/clippy.toml`;
//! every other line breaks none. `../test_bans.py` lets clippy judge.

use std::collections::BTreeMap;
use std::fs;

pub fn clock() {
    let _ = std::time::Instant::now(); // banned
    let _ = std::time::SystemTime::UNIX_EPOCH; // banned
    std::thread::sleep(std::time::Duration::ZERO); // banned
}

pub fn files(path: &str) {
    let _ = fs::canonicalize(path); // banned
    let _ = fs::copy(path, path); // banned
    let _ = fs::create_dir(path); // banned
    let _ = fs::create_dir_all(path); // banned
    let _ = fs::exists(path); // banned
    let _ = fs::hard_link(path, path); // banned
    let _ = fs::metadata(path); // banned
    let _ = fs::read(path); // banned
    let _ = fs::read_dir(path); // banned
    let _ = fs::read_link(path); // banned
    let _ = fs::read_to_string(path); // banned
    let _ = fs::remove_dir(path); // banned
    let _ = fs::remove_dir_all(path); // banned
    let _ = fs::remove_file(path); // banned
    let _ = fs::rename(path, path); // banned
    let _ = fs::symlink_metadata(path); // banned
    let _ = fs::write(path, path); // banned
    let _ = fs::File::open(path); // banned
    let _ = fs::OpenOptions::new(); // banned
    let _ = fs::DirBuilder::new(); // banned
}

pub fn permissions(path: &str, permissions: std::fs::Permissions) {
    let _ = fs::set_permissions(path, permissions); // banned
}

pub fn listing(_: fs::ReadDir) {} // banned

pub fn hash_order() {
    let _: std::collections::HashMap<u8, u8> = Default::default(); // banned
    let _: std::collections::HashSet<u8> = Default::default(); // banned
    let _ = std::hash::RandomState::new(); // banned
    let _: BTreeMap<u8, u8> = BTreeMap::new();
}

pub fn surroundings() {
    let _ = std::io::stdin(); // banned
    let _ = std::io::stdout(); // banned
    let _ = std::io::stderr(); // banned
    let _ = std::env::var("HOME"); // banned
    let _ = std::thread::spawn(|| ()); // banned
}

pub fn printing() {
    print!("x"); // banned
    println!("x"); // banned
    eprint!("x"); // banned
    eprintln!("x"); // banned
    dbg!("x"); // banned
}

pub fn exact(x: f64, y: f32) {
    let _ = x.sqrt() + x.abs() + x.floor();
    let _ = y.sqrt() + y.abs() + y.floor();
}

pub fn double(x: f64) {
    let _ = x.acos(); // banned
    let _ = x.acosh(); // banned
    let _ = x.asin(); // banned
    let _ = x.asinh(); // banned
    let _ = x.atan(); // banned
    let _ = x.atanh(); // banned
    let _ = x.cbrt(); // banned
    let _ = x.cos(); // banned
    let _ = x.cosh(); // banned
    let _ = x.exp(); // banned
    let _ = x.exp2(); // banned
    let _ = x.exp_m1(); // banned
    let _ = x.ln(); // banned
    let _ = x.ln_1p(); // banned
    let _ = x.log10(); // banned
    let _ = x.log2(); // banned
    let _ = x.sin(); // banned
    let _ = x.sin_cos(); // banned
    let _ = x.sinh(); // banned
    let _ = x.tan(); // banned
    let _ = x.tanh(); // banned
    let _ = x.atan2(x); // banned
    let _ = x.hypot(x); // banned
    let _ = x.log(x); // banned
    let _ = x.powf(x); // banned
    let _ = x.powi(2); // banned
}

pub fn single(x: f32) {
    let _ = x.acos(); // banned
    let _ = x.acosh(); // banned
    let _ = x.asin(); // banned
    let _ = x.asinh(); // banned
    let _ = x.atan(); // banned
    let _ = x.atanh(); // banned
    let _ = x.cbrt(); // banned
    let _ = x.cos(); // banned
    let _ = x.cosh(); // banned
    let _ = x.exp(); // banned
    let _ = x.exp2(); // banned
    let _ = x.exp_m1(); // banned
    let _ = x.ln(); // banned
    let _ = x.ln_1p(); // banned
    let _ = x.log10(); // banned
    let _ = x.log2(); // banned
    let _ = x.sin(); // banned
    let _ = x.sin_cos(); // banned
    let _ = x.sinh(); // banned
    let _ = x.tan(); // banned
    let _ = x.tanh(); // banned
    let _ = x.atan2(x); // banned
    let _ = x.hypot(x); // banned
    let _ = x.log(x); // banned
    let _ = x.powf(x); // banned
    let _ = x.powi(2); // banned
}
