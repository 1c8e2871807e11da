//! The most memory that the module may take, for the linker of WebAssembly.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        // as MEMORY_BYTES in src/lib.rs
        println!("cargo:rustc-link-arg-cdylib=--max-memory={}", 1 << 30);
    }
}
