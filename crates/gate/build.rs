//! Compiles the programs of the gate for the kernel.

use std::path::Path;

#[path = "build/layout.rs"]
mod layout;

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    println!("cargo::rerun-if-changed=build");
    // Debian and its derivatives keep the kernel's own types under the name of the machine. Those of
    // the machine that compiles serve each target: a program of BPF is the same on all.
    let types = format!("-idirafter/usr/include/{}-linux-gnu", std::env::consts::ARCH);
    // lines of the source are named in the program, and not where the source was on this machine
    let unnamed = format!("-ffile-prefix-map={}=.", env!("CARGO_MANIFEST_DIR"));
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for a build script");
    let header = std::fs::read_to_string("bpf/gate.h").expect("the header is there");
    let written = std::fs::write(Path::new(&out).join("shared.rs"), layout::in_rust(&header));
    written.expect("cargo's folder can be written");
    let source = "bpf/gate.bpf.c";
    // the second one is for kernels that do not tell their types
    let objects =
        [("gate.bpf.o", None), ("gate-without-types.bpf.o", Some("-DTIDEGATE_WITHOUT_TYPES"))];
    for (object, more) in objects {
        let built = libbpf_cargo::SkeletonBuilder::new()
            .source(source)
            .obj(Path::new(&out).join(object))
            .clang_args(["-mcpu=v3", "-Wall", "-Werror", &types, &unnamed].into_iter().chain(more))
            .build();
        if let Err(error) = built {
            println!("cargo::error={source} does not compile: {error:#}");
            println!("cargo::error=the gate needs clang and headers: tools/live.sh says which");
        }
    }
}
