#!/usr/bin/env bash
# progress.sh TITLE ABOUT COMMAND...: runs a command of cargo's (or maturin's) and reports how far
# it is: on a terminal in one line, elsewhere every fifteen seconds. ABOUT says how long it takes
# from nothing on two cores. Its output is shown when it fails.
set -euo pipefail

title=$1 about=$2
shift 2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
terminal=$([ -t 2 ] && echo yes || true)
say() { if [ -n "$terminal" ]; then printf '\r\033[K%s' "$1" >&2; else printf '%s\n' "$1" >&2; fi; }

"$@" >"$log" 2>&1 &
job=$!
trap 'kill "$job" 2>/dev/null; rm -f "$log"; exit 130' INT TERM
say "$title (the first time $about on two cores, later seconds)"
shown=0
while kill -0 "$job" 2>/dev/null; do
    sleep 0.2
    if [ -n "$terminal" ] && [ $SECONDS -gt "$shown" ] || [ $((SECONDS - shown)) -ge 15 ]; then
        shown=$SECONDS
        crates=$(grep -cE '^ *Compiling ' "$log" || true)
        say "$title: $crates crates compiled or begun, $SECONDS s of $about"
    fi
done
[ -z "$terminal" ] || printf '\r\033[K' >&2
if ! wait "$job"; then
    cat "$log" >&2
    exit 1
fi
printf '%s: done in %s s\n' "$title" "$SECONDS" >&2
