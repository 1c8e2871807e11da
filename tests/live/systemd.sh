# `systemd.sh container DEBIAN PACKAGE OUTPUT` starts systemd in a bare Debian, as the first
# program of a container, and lets it run the rest of this file: what docs/gate.md tells to type,
# "As a service". Each part of the output has a headline, which test_deb.py looks for.
set -u
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
unit=tidegate-gate@wan0
socket=/run/tidegate/gate-wan0.sock

# in namespaces of its own, but for the user's; nothing of this machine's /proc/sys can be set
container() {
	set -e
	mount --make-rprivate /
	mount --bind "$1" "$1"
	cd "$1"
	mount -t proc proc proc
	mount --bind proc/sys proc/sys
	mount -o remount,ro,bind proc/sys
	mount -t sysfs sysfs sys
	mount -t cgroup2 cgroup sys/fs/cgroup
	mount -t tmpfs dev dev
	for device in null zero full random urandom tty; do
		touch dev/$device
		mount --bind /dev/$device dev/$device
	done
	mkdir dev/shm dev/pts
	mount -t tmpfs shm dev/shm
	mount -t devpts -o newinstance,ptmxmode=0666 pts dev/pts
	ln -s pts/ptmx dev/ptmx
	ln -s /proc/self/fd dev/fd
	mount -t tmpfs run run
	mkdir run/test
	cp "$0" "$2" run/test
	touch run/test/output
	mount --bind "$3" run/test/output
	echo 0123456789abcdef0123456789abcdef >etc/machine-id
	mkdir -p run/systemd/system/multi-user.target.wants
	ln -s ../check.service run/systemd/system/multi-user.target.wants
	cat >run/systemd/system/check.service <<-END
		[Service]
		Type=oneshot
		StandardOutput=append:/run/test/output
		StandardError=inherit
		ExecStart=/bin/bash /run/test/systemd.sh
		ExecStopPost=/bin/systemctl --no-block start poweroff.target
	END
	mkdir -p old
	pivot_root . old
	umount -l /old
	export container=other
	exec /lib/systemd/systemd
}
if [ "${1-}" = container ]; then
	container "${@:2}"
fi

# how many of 40 connections at once are answered within so long: by a reset, as nobody listens
answered() {
	for _ in $(seq 40); do
		timeout "$1" bash -c 'echo >/dev/tcp/10.77.0.2/4433' 2>&1 &
	done | grep -c "connect: .*refused"
}

# waits for a word in what a command prints, at most so many seconds
until_says() {
	for _ in $(seq $(($1 * 5))); do
		"${@:3}" 2>&1 | grep -q -- "$2" && return
		sleep 0.2
	done
	echo "not within $1 s: $2"
}

show() { systemctl show "$unit" "${@/#/-p}"; }
number() { systemctl show "$unit" -p MainPID --value; }
files() { find / /run /tmp -xdev -not -path '/var/tmp/*' 2>/dev/null | sort -u; }
part() { echo "== $*"; }

ip netns add far
ip link add wan0 type veth peer name lan0 netns far
ip address add 10.77.0.1/24 dev wan0
ip link set wan0 up
ip -n far address add 10.77.0.2/24 dev lan0
ip -n far link set lan0 up
files >/var/tmp/before

part installed
apt-get install -y --no-install-recommends /run/test/*.deb >/var/tmp/apt 2>&1 || cat /var/tmp/apt
tidegated gate observe wan0 --for 5s --out /etc/tidegate/wan0.toml >/var/tmp/observed 2>&1 || cat /var/tmp/observed
sed -i "s/^law = .*/law = { law = 'fixed-rate', rate = '2\/s' }/" /etc/tidegate/wan0.toml
part enabled
systemctl enable --quiet --now "$unit"
systemctl is-active "$unit"
show Type NRestarts
until_says 10 attached tidegated status
tidegated status
part rights
grep -E '^(Uid|CapEff|CapBnd|NoNewPrivs|Seccomp):' "/proc/$(number)/status"
systemd-analyze security --no-pager "$unit" | tail -n 1
part answered while it observes
answered 20
part answered while it refuses
tidegated gate enforce --for 10min --socket $socket
sleep 2
answered 0.7
part answered after revert
tidegated gate revert --socket $socket
sleep 1
answered 20
part reloaded
sed -i '1i shape = "10Mbit"' /etc/tidegate/wan0.toml
sed -i 's/^mode.*/mode = "enforce"/' /etc/tidegate/wan0.toml
systemctl reload "$unit"
until_says 5 'wan0 enforce' tidegated status
tc qdisc show dev wan0
part answered after the reload
answered 0.7
part a wrong file
cp /etc/tidegate/wan0.toml /var/tmp/right
echo 'mode = "no"' >/etc/tidegate/wan0.toml
systemctl reload "$unit" 2>/dev/null || echo refused
systemctl is-active "$unit"
cat /var/tmp/right >/etc/tidegate/wan0.toml
part hung
sleep 12
show NRestarts
kill -STOP "$(number)"
until_says 180 NRestarts=1 show NRestarts
until_says 20 'attached at' tidegated status
show Result
part without a call that is not allowed
more=/run/systemd/system/$unit.service.d
mkdir -p "$more"
printf '[Service]\nSystemCallErrorNumber=kill\n' >"$more/strict.conf"
systemctl daemon-reload
systemctl restart "$unit"
until_says 20 'attached at' tidegated status
systemctl reload "$unit"
tidegated gate revert --socket $socket >/var/tmp/revert 2>&1
sleep 3
show NRestarts ActiveState
rm -r "$more"
systemctl daemon-reload
part journal
journalctl --no-pager -o cat -u "$unit"
part purged
apt-get purge -y tidegated >/var/tmp/apt 2>&1 || cat /var/tmp/apt
systemctl is-active "$unit"
tc filter show dev wan0 egress
tc filter show dev wan0 ingress
tc qdisc show dev wan0
bpftool net show dev wan0 | grep tidegate
grep tidegate /etc/passwd /etc/group
part left
files | comm -13 /var/tmp/before - | grep tidegate
part end
