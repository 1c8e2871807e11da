#!/usr/bin/env bash
# Makes dist/*.whl and dist/*.tar.gz, and tries the wheel in a bare virtual environment.
#
# The wheel also carries the ready scenarios (for `tidegate examples`) and the commit
# (for `tidegate --version`); they are copied into the package while it is packed.
# The wheel is compiled with a profile of the simulator (tools/pgo.sh), the source
# package without.
set -euo pipefail

bin=$1
package=$PWD/python/tidegate  # absolute: the trap runs in another folder
bare=$(mktemp -d)
trap 'rm -rf "$package/examples" "$package/commit.txt" "$bare"' EXIT

rm -rf dist
profile=$(bash tools/pgo.sh "$bin")
if [ -n "$profile" ]; then
    export CARGO_ENCODED_RUSTFLAGS=-Cprofile-use=$profile
fi
"$bin/maturin" sdist --out dist
cp -r scenarios "$package/examples"
rm -rf "$package/examples/testbed"
git rev-parse HEAD > "$package/commit.txt"
host=$(rustc -vV | sed -n 's/^host: //p')
"$bin/maturin" build --profile dist --locked --features stacks --target "$host" --out dist

# Neither compiler nor checkout: only the wheel and its dependencies.
python=$("$bin/python" -c 'import sys; print(sys._base_executable)')
"$python" -m venv "$bare/venv"
"$bare/venv/bin/pip" install --quiet dist/*.whl
cd "$bare"
env -i PATH=/usr/bin:/bin "$bare/venv/bin/tidegate" --version
env -i PATH=/usr/bin:/bin "$bare/venv/bin/tidegate" examples mine
env -i PATH=/usr/bin:/bin "$bare/venv/bin/tidegate" compare mine/overloaded-access-link.toml \
    --gate none,fixed-rate:100,gss-ga,close-probe --seeds 1
