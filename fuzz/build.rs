//! Compiles the code that reads headers in the kernel for this machine, with what the engine
//! needs to see its branches.

fn main() {
    let folder = "../crates/gate/tests/reader/host";
    println!("cargo::rerun-if-changed={folder}");
    println!("cargo::rerun-if-changed=../crates/gate/bpf/parse.h");
    cc::Build::new()
        .compiler("clang")
        .include(folder)
        .flag("-fsanitize-coverage=inline-8bit-counters,pc-table,trace-cmp")
        .flag("-fsanitize=undefined")
        .flag("-fsanitize-trap=undefined")
        .file(format!("{folder}/read.c"))
        .compile("reader");
}
