#!/usr/bin/env bash
# system.sh [python]: make sure of what pip and cargo cannot bring: a linker and cargo, and with
# `python` also Python 3.11+ with venv.
# As root on Debian or Ubuntu the missing packages are installed; otherwise the
# command that would do it is printed, and the build stops.
# With `python`, prints the Python to build with on standard output.
set -euo pipefail

say() { printf '%s\n' "$*" >&2; }
modern() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if modern "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
}

packages=()
command -v cc >/dev/null || packages+=(gcc libc6-dev)
python=$(find_python)
if [ "${1:-}" != python ]; then
    :
elif [ -z "$python" ]; then
    packages+=(python3 python3-venv)
elif ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    packages+=("python3.$("$python" -c 'import sys; print(sys.version_info.minor)')-venv")
fi

if [ ${#packages[@]} -gt 0 ]; then
    install="apt-get install -y --no-install-recommends ${packages[*]}"
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        say "Installing system packages: ${packages[*]}"
        export DEBIAN_FRONTEND=noninteractive
        { apt-get update && $install; } </dev/null >&2
        python=$(find_python)
    else
        say "Missing system packages. On Debian or Ubuntu, run:"
        say "    sudo apt-get update && sudo $install"
        say "and then the same make again."
        exit 1
    fi
fi

if [ "${1:-}" = python ] && [ -z "$python" ]; then
    say "No Python 3.11 or later found. Name one: make PYTHON=/path/to/python3 build"
    exit 1
fi
if ! command -v cargo >/dev/null; then
    say "No Rust toolchain found (cargo, in PATH or in ~/.cargo/bin)."
    say "Install one as https://rustup.rs says, and then run the same make again."
    exit 1
fi
[ "${1:-}" != python ] || printf '%s\n' "$python"
