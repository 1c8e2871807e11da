#!/usr/bin/env bash
# groups.sh NAME COMMAND [NAME COMMAND ...]: runs groups of tests one after the other, all of them
# even when one fails, and ends with a line on each: passed or failed, and its wall time.
set -uo pipefail

lines=() failed=0
while [ $# -gt 0 ]; do
    printf '\n--- %s: %s\n' "$1" "$2"
    begin=$SECONDS
    if bash -euo pipefail -c "$2"; then verdict=passed; else verdict=FAILED failed=1; fi
    lines+=("$(printf '%-28s %s  %5d s' "$1" "$verdict" $((SECONDS - begin)))")
    shift 2
done
printf '\n'
printf '%s\n' "${lines[@]}" "$(printf '%-28s %s  %5d s' all "$([ $failed = 0 ] && echo passed || echo FAILED)" "$SECONDS")"
exit $failed
