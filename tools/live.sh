#!/usr/bin/env bash
# What the gate of tidegated is built with. `live.sh features` prints the options for
# `cargo build -p tidegated`, `live.sh workspace` those for `cargo ... --workspace`; they leave
# the gate out where something is missing. What is missing is installed if possible,
# else named with the command on standard error.
set -euo pipefail

packages=(clang libelf-dev zlib1g-dev)
machine=$(uname -m)

missing() {
	local lacks=()
	[ "$(uname -s)" = Linux ] || lacks+=("Linux")
	command -v clang >/dev/null || lacks+=("clang")
	for header in libelf.h zlib.h; do
		[ -e "/usr/include/$header" ] || [ -e "/usr/include/$machine-linux-gnu/$header" ] ||
			lacks+=("$header")
	done
	[ "${#lacks[@]}" = 0 ] || printf '%s\n' "${lacks[*]}"
}

install_packages() {
	[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
	{ apt-get update -qq && apt-get install -y -qq --no-install-recommends "${packages[@]}"; } \
		>/dev/null 2>&1 || true
}

lacks=$(missing)
if [ -n "$lacks" ] && [ -n "${1:-}" ]; then
	install_packages
	lacks=$(missing)
fi
if [ -z "$lacks" ]; then
	echo "--features tidegated/gate"
else
	[ "${1:-}" != workspace ] || echo "--exclude tidegate-gate --exclude tidegate-tcx"
	echo "tidegated is built without its gate, for want of: $lacks" \
		"(sudo apt-get install -y ${packages[*]}); the laboratory works without it" >&2
fi
