#!/usr/bin/env bash
# Tries the Debian package in an empty Debian: installs the older version, stops, starts and reloads it, rotates its
# logs, upgrades it while callers write and upload, tries a version that is too old for the log, removes and purges it. Needs root, mmdebstrap and systemd-container:
#   deploy/debian/try.sh OLDER.deb NEWER.deb [BASE.tar]
# BASE.tar is made by mmdebstrap where it does not exist, and used again where it does.
set -euo pipefail

older=$1 newer=$2 folder=$(mktemp -d)
base=${3:-$folder/base.tar} root=$folder/root
url=http://127.0.0.1:7410

finish() {
	# Its child is the init of the container, which ends with it.
	[ -z "${container:-}" ] || kill -TERM "$container" 2>/dev/null || true
	wait 2>/dev/null || true
	rm -rf "$folder"
}
trap finish EXIT

step() { printf '\n== %s\n' "$*"; }
fail() {
	printf 'FAILED: %s\n' "$*" >&2
	inside journalctl --no-pager -n 40 -u presence.service -u presence.socket >&2 || true
	exit 1
}
inside() {
	nsenter --target "$init" --all -- env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive "$@"
}
expect() { # expect TEXT COMMAND…
	local wanted=$1 found
	shift
	found=$("$@" 2>&1) || true
	[ "$found" = "$wanted" ] || fail "$* gives \"$found\" instead of \"$wanted\""
	printf '%s: %s\n' "$*" "$wanted"
}
say() { inside curl -sS -o /dev/null -w '%{http_code}' "$url/api/seeds" -d "{\"text\":\"$1\"}"; }
head_of_log() { inside curl -sS "$url/api/seeds?limit=1" | grep -o '"head":[0-9]*' | cut -d: -f2; }

step "an empty Debian"
[ -f "$base" ] || mmdebstrap --quiet --variant=minbase \
	--include=systemd,systemd-sysv,dbus,curl,libatomic1,logrotate bookworm "$base"
mkdir "$root"
tar -xf "$base" -C "$root" --exclude='./dev/*'
# Without a network: the package needs none.
systemd-nspawn --quiet --directory="$root" --register=no --keep-unit --private-network \
	--console=pipe --boot </dev/null >"$folder/console" 2>&1 &
container=$!
for _ in $(seq 100); do
	init=$(pgrep --parent "$container" --full systemd | head -1) || true
	[ -n "$init" ] && inside systemctl is-system-running 2>/dev/null | grep -qE 'running|degraded' && break
	sleep 0.5
done
[ -n "${init:-}" ] || fail "the container does not start: $(cat "$folder/console")"

step "install"
cp "$older" "$root/opt/older.deb"
cp "$newer" "$root/opt/newer.deb"
inside dpkg --install /opt/older.deb
expect active inside systemctl is-active presence.socket
expect active inside systemctl is-active presence.service
expect enabled inside systemctl is-enabled presence.socket
expect 201 say first
expect presence:presence inside stat -c %U:%G /var/lib/presence/log.sqlite
expect presence inside stat -c %U "/proc/$(inside systemctl show -P MainPID presence.service)"
inside presence --version
inside systemd-analyze security presence.service | tail -1

step "stop and start"
inside systemctl stop presence.socket presence.service
expect inactive inside systemctl is-active presence.service
expect 000 inside curl -s -o /dev/null -w '%{http_code}' "$url/api"
# The socket starts the service for the first caller.
inside systemctl start presence.socket
expect 201 say second
# It may not have told systemd yet that it serves.
inside systemctl start presence.service
expect active inside systemctl is-active presence.service
inside systemctl restart presence.service
expect 2 head_of_log

step "reload, without ending a stream, or refuse"
settings=$root/etc/presence/presence.env
inside sh -c "curl -sS $url/mova-snu.yaml >/etc/presence/own.yaml"
printf 'PRESENCE_LANGUAGE=/etc/presence/own.yaml\nPRESENCE_PUBLIC_URL=https://presence.example\n' >>"$settings"
sed -i '1i contact: keeper@presence.example' "$root/etc/presence/own.yaml"
inside curl -sSN "$url/api/events" >"$folder/stream" &
stream=$!
process=$(inside systemctl show -P MainPID presence.service)
inside systemctl reload presence.service
expect 1 sh -c "nsenter --target $init --all -- curl -sS $url/.well-known/security.txt | grep -c keeper@presence.example"
expect 1 sh -c "nsenter --target $init --all -- curl -sS $url/.well-known/security.txt | grep -c 'Canonical: https://presence.example'"
echo 'service: 1' >"$root/etc/presence/own.yaml"
inside systemctl reload presence.service && fail "a language file with faults was taken"
inside journalctl --output cat --unit presence.service --grep 'own.yaml:1:1' | tail -1
expect 1 sh -c "nsenter --target $init --all -- curl -sS $url/.well-known/security.txt | grep -c keeper@presence.example"
expect 201 say third
for _ in $(seq 50); do
	if grep -q third "$folder/stream"; then break; fi
	sleep 0.1
done
grep -q third "$folder/stream" || fail "the stream has ended"
kill "$stream"
expect "$process" inside systemctl show -P MainPID presence.service
sed -i '/^PRESENCE_LANGUAGE=/d' "$settings"
rm "$root/etc/presence/own.yaml"

step "rotate the log of requests"
echo PRESENCE_LOG_REQUESTS=/var/log/presence/requests.log >>"$settings"
inside systemctl restart presence.service
expect 201 say fourth
sleep 1
inside logrotate --force /etc/logrotate.d/open-presence
sleep 1
expect 201 say fifth
sleep 1
expect 1 inside grep -c POST /var/log/presence/requests.log
expect 1 inside grep -c POST /var/log/presence/requests.log.1
inside presence config --config /etc/presence/presence.env --listen fd:0 | grep -F -e presence.example -e /var/lib/presence

step "upgrade while callers write"
# shellcheck disable=SC2016
inside sh -c 'while [ ! -e /tmp/stop ]; do
	curl -sS -o /dev/null -w "%{http_code}\n" '"$url"'/api/seeds -d "{\"text\":\"here\"}" || echo lost
done >/tmp/answers' &
callers=$!
# An upload that is under way when the old gateway is told to stop: 30 MB in a minute.
inside sh -c '(printf "{\"text\":\""; head -c 30000000 /dev/zero | tr "\0" x; printf "\"}") >/tmp/body'
{
	inside curl -sS -o /dev/null -w '%{http_code}' --limit-rate 500k "$url/api/shepit" \
		--data-binary @/tmp/body >"$folder/upload"
	date +%s%3N >"$folder/uploaded"
} &
upload=$!
before=$(inside systemctl show -P MainPID presence.service)
sleep 2
inside dpkg --install /opt/newer.deb
sleep 2
inside touch /tmp/stop
wait "$callers" "$upload"
expect 201 cat "$folder/upload"
stopped=$(inside journalctl --output cat --unit presence.service --grep SIGTERM | tail -1 | grep -o '"time":[0-9]*' | cut -d: -f2)
[ "$stopped" -lt "$(cat "$folder/uploaded")" ] || fail "the upload had ended before the upgrade"
[ "$before" != "$(inside systemctl show -P MainPID presence.service)" ] || fail "the old gateway still runs"
expect 201 inside sort -u /tmp/answers
answers=$(inside sh -c 'wc -l </tmp/answers')
expect $((answers + 6)) head_of_log
inside dpkg-query -W open-presence

step "install a version that is too old for the log"
dpkg-deb --raw-extract "$newer" "$folder/next"
sed -i 's/ -gt [0-9]* \]; then/ -gt 0 ]; then/' "$folder/next/DEBIAN/preinst"
sed -i 's/^Version: .*/&+next/' "$folder/next/DEBIAN/control"
dpkg-deb --root-owner-group --build "$folder/next" "$root/opt/next.deb" >/dev/null
inside dpkg --install /opt/next.deb && fail "a folder of a newer format was taken"
expect $((answers + 6)) head_of_log

step "remove"
inside dpkg --remove open-presence
expect 000 inside curl -s -o /dev/null -w '%{http_code}' "$url/api"
expect /etc/presence/presence.env inside ls /etc/presence/presence.env
step "purge"
inside dpkg --purge open-presence
[ ! -e "$root/etc/presence" ] || fail "/etc/presence is still there"
[ ! -e "$root/usr/lib/open-presence" ] || fail "/usr/lib/open-presence is still there"
expect /var/lib/presence/log.sqlite inside ls /var/lib/presence/log.sqlite
step "install again, with the log as it was"
inside dpkg --install /opt/newer.deb
expect $((answers + 6)) head_of_log
step "done"
