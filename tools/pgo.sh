#!/usr/bin/env bash
# Takes a profile of the simulator for the compiler (profile-guided optimisation) and prints its
# path: builds the native module with counters, and runs tools/train.py.
#
# Needs LLVM's llvm-profdata, of the compiler's version or a later one: `rustup component add
# llvm-tools`, or the package llvm-VERSION of Debian. Without it nothing is printed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bin=$1
work=$PWD/target/pgo
host=$(rustc -vV | sed -n 's/^host: //p')
llvm=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')

profdata() {
    local tool version
    for tool in "$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata" \
        "llvm-profdata-$llvm" llvm-profdata; do
        version=$("$tool" --version 2>/dev/null | sed -n 's/.*LLVM version \([0-9]*\).*/\1/p' || true)
        if [ "${version:-0}" -ge "$llvm" ]; then
            echo "$tool"
            return
        fi
    done
}

tool=$(profdata)
if [ -z "$tool" ]; then
    echo "no llvm-profdata of LLVM $llvm or later: the wheel is built without a profile," \
        'and is slower by an eighth to a quarter' >&2
    exit 0
fi
rm -rf "$work/raw" "$work/wheel" "$work/venv"
CARGO_TARGET_DIR=$work CARGO_ENCODED_RUSTFLAGS=-Cprofile-generate=$work/raw \
    "$bin/maturin" build --profile dist --locked --target "$host" --out "$work/wheel" >&2
# the environment of the build may lack dependencies of the package
"$bin/python" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet "$work"/wheel/*.whl >&2
"$work/venv/bin/python" -m tools.train >&2
"$tool" merge -o "$work/profile.profdata" "$work/raw" >&2
# cargo rebuilds for a new path, not for new contents
profile=$work/$(sha256sum "$work/profile.profdata" | cut -c 1-16).profdata
mv "$work/profile.profdata" "$profile"
echo "$profile"
