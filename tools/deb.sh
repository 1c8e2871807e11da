#!/usr/bin/env bash
# Makes dist/tidegated_VERSION_ARCHITECTURE.deb: the program with its gate, a systemd unit for
# each interface, manual pages, and examples (configuration, dashboard, alert rules).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v dpkg-shlibdeps >/dev/null; then
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		apt-get update -qq && apt-get install -y -qq --no-install-recommends dpkg-dev binutils >/dev/null
	else
		echo "dpkg-dev is not installed: sudo apt-get install -y dpkg-dev" >&2
		exit 2
	fi
fi
features=$(bash tools/live.sh features)
[ -n "$features" ] || { echo "the package needs the gate" >&2; exit 2; }

cargo build --release --locked --package tidegated $features
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
root=$stage/root
docs=$root/usr/share/doc/tidegated
man=$root/usr/share/man/man1
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
architecture=$(dpkg --print-architecture)

install -D -m 755 target/release/tidegated "$root/usr/bin/tidegated"
strip --strip-unneeded "$root/usr/bin/tidegated"
install -D -m 644 crates/gate/etc/tidegate-gate@.service -t "$root/lib/systemd/system"
install -d -m 755 "$root/etc/tidegate" "$man"
install -D -m 644 crates/gate/etc/{gate.toml,grafana-gate.json,alerts.yml} -t "$docs/examples"
install -D -m 644 docs/gate.md docs/gate-details.md docs/gate-keys.md docs/tidegated.md -t "$docs"
cat >"$docs/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: tidegate

Files: *
Copyright: the authors of tidegate
License: MIT or Apache-2.0
$(sed 's/^$/./; s/^/ /' LICENSE-MIT)
 .
 On Debian the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0.
END
gzip -9nc CHANGELOG.md >"$docs/changelog.gz"
cargo run --quiet --release --locked --package tidegated $features --example man -- "$man"
gzip -9n "$man"/*

install -d "$root/DEBIAN"
install -m 755 tools/packaging/postinst tools/packaging/prerm tools/packaging/postrm "$root/DEBIAN"
mkdir "$stage/debian"
printf 'Source: tidegate\n\nPackage: tidegated\nArchitecture: any\n' >"$stage/debian/control"
needs=$(cd "$stage" && dpkg-shlibdeps -O "$root/usr/bin/tidegated" 2>/dev/null |
	sed -n 's/^shlibs:Depends=//p')
cat >"$root/DEBIAN/control" <<END
Package: tidegated
Version: $version
Architecture: $architecture
Maintainer: the authors of tidegate <tidegate@localhost>
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f 1)
Depends: $needs
Suggests: prometheus
Section: net
Priority: optional
Description: admits new TCP sessions at an overloaded link
 tidegated stands at the interface of a Linux router that leads to a congested
 link. When more users come than the link can serve, it lets in as many as the
 link serves well, and finds that number by itself. If it stops, all traffic
 passes. The package also has an emulator of links.
END
(cd "$root" && find usr lib etc -type f -exec md5sum {} + >DEBIAN/md5sums)

mkdir -p dist
package=dist/tidegated_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
echo "$package: $(du -k "$package" | cut -f 1) kB"
