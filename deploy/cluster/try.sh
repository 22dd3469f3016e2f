#!/usr/bin/env bash
# Tries docs/cluster.md on three machines with systemd, Debian's nats-server and the package of the gateway: sets them
# up by its commands and the shipped files, stops and starts servers and gateways, makes a log of its own from a copy,
# and a cluster from that. Needs root, openssl, mmdebstrap and systemd-container:
#   deploy/cluster/try.sh PACKAGE.deb [BASE.tar]
# BASE.tar is made by mmdebstrap where it does not exist, and used again where it does.
set -eEuo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
nodes='1 2 3'
package=$1 folder=$(mktemp -d) bridge=presence-try network=192.0.2
mapfile -t hierarchies < <(findmnt -rn -t cgroup2 -o TARGET; findmnt -rn -t cgroup -O name=systemd -o TARGET)
base=${2:-$folder/base.tar}
declare -A container=() init=()
tls='ca=/etc/presence/ca.pem&cert=/etc/presence/node.pem&key=/etc/presence/node.key'
servers=tls://node1:4222,node2:4222,node3:4222

finish() {
	# Its child is the init of the container, which ends with it.
	for node in "${!container[@]}"; do kill -TERM "${container[$node]}" 2>/dev/null || true; done
	wait 2>/dev/null || true
	ip link delete "$bridge" 2>/dev/null || true
	for hierarchy in "${hierarchies[@]}"; do
		find "$hierarchy"/presence-try-* -depth -type d -exec rmdir {} + 2>/dev/null || true
	done
	rm -rf "$folder"
}
trap finish EXIT
trap 'fail "line $LINENO"' ERR

step() { printf '\n== %s\n' "$*"; }
fail() {
	printf 'FAILED: %s\n' "$*" >&2
	for node in $nodes; do
		inside "$node" journalctl --no-pager -n 30 -u presence.service -u nats-server.service >&2 || true
	done
	exit 1
}
inside() { # inside NODE COMMAND…
	local node=$1
	shift
	nsenter --target "${init[$node]}" --all -- env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive "$@"
}
as_presence() { # as_presence NODE COMMAND…
	local node=$1
	shift
	inside "$node" runuser -u presence -- "$@"
}
until_is() { # until_is TEXT COMMAND…
	local wanted=$1 found=
	shift
	for _ in $(seq 120); do
		found=$("$@" 2>&1) || true
		[ "$found" = "$wanted" ] && printf '%s: %s\n' "$*" "$wanted" && return
		sleep 0.5
	done
	fail "$* gives \"$found\" instead of \"$wanted\""
}
say() { # say NODE TEXT
	inside "$1" curl -sS -m 30 -o /dev/null -w '%{http_code}' http://127.0.0.1:7410/api/seeds -d "{\"text\":\"$2\"}"
}
head_of_log() { # head_of_log NODE
	inside "$1" curl -sS 'http://127.0.0.1:7410/api/seeds?limit=1' | grep -o '"head":[0-9]*' | cut -d: -f2
}
readiness() { inside "$1" curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:7410/readyz; }
health_of_server() { inside "$1" curl -s "http://$network.$1:8222/healthz"; }
set_log() { # set_log NODE [LOG]
	inside "$1" sed -i '/^PRESENCE_LOG=/d' /etc/presence/presence.env
	[ -z "${2:-}" ] || inside "$1" sh -c "echo 'PRESENCE_LOG=$2' >>/etc/presence/presence.env"
}

step "three machines"
[ -f "$base" ] || mmdebstrap --quiet --variant=minbase \
	--include=systemd,systemd-sysv,dbus,curl,libatomic1,iproute2,nats-server trixie "$base"
ip link add "$bridge" type bridge
ip link set "$bridge" up
for node in $nodes; do
	root=$folder/node$node
	mkdir "$root"
	tar -xf "$base" -C "$root" --exclude='./dev/*'
	printf '127.0.0.1 localhost\n' >"$root/etc/hosts"
	for other in $nodes; do printf '%s node%s\n' "$network.$other" "$other" >>"$root/etc/hosts"; done
	echo "node$node" >"$root/etc/hostname"
	cp "$package" "$root/opt/presence.deb"
	# Each needs a control group of its own: their services have the same names.
	(
		for hierarchy in "${hierarchies[@]}"; do
			mkdir "$hierarchy/presence-try-$node"
			echo "$BASHPID" >"$hierarchy/presence-try-$node/cgroup.procs"
		done
		exec systemd-nspawn --quiet --directory="$root" --register=no --keep-unit --network-bridge="$bridge" \
			--machine="presence-try-$node" --hostname="node$node" --resolv-conf=off --console=pipe --boot
	) </dev/null >"$folder/console$node" 2>&1 &
	container[$node]=$!
done
for node in $nodes; do
	for _ in $(seq 120); do
		init[$node]=$(pgrep --parent "${container[$node]}" --full systemd | head -1) || true
		[ -n "${init[$node]}" ] && inside "$node" systemctl is-system-running 2>/dev/null |
			grep -qE 'running|degraded' && break
		sleep 0.5
	done
	[ -n "${init[$node]}" ] || fail "node$node does not start: $(cat "$folder/console$node")"
	inside "$node" ip address add "$network.$node/24" dev host0
	inside "$node" ip link set host0 up
	inside "$node" dpkg --install /opt/presence.deb
done
inside 1 nats-server --version

step "certificates"
"$here/certificates.sh" "$folder/certificates" node1 node2 node3 2>/dev/null
for node in $nodes; do
	inside "$node" mkdir -p /etc/nats
	for place in /etc/nats:nats /etc/presence:presence; do
		cp "$folder/certificates/node$node/"* "$folder/node$node${place%:*}"
		for file in ca.pem node.pem node.key; do inside "$node" chown "${place#*:}" "${place%:*}/$file"; done
	done
done

step "servers"
for node in $nodes; do
	inside "$node" sh -c "cp /usr/share/doc/open-presence/examples/cluster/nats.conf /etc/nats-server.conf
		mkdir -p /etc/systemd/system/nats-server.service.d
		sed 's/^Environment=ADDRESS=.*/Environment=ADDRESS=$network.$node/' \
			/usr/share/doc/open-presence/examples/cluster/nats-server.service.d-presence.conf \
			>/etc/systemd/system/nats-server.service.d/presence.conf"
	inside "$node" sh -c 'systemctl daemon-reload && systemctl enable --now nats-server && systemctl restart nats-server'
done
for node in $nodes; do until_is '{"status":"ok"}' health_of_server "$node"; done

step "gateways"
for node in $nodes; do
	set_log "$node" "$servers?$tls"
	inside "$node" systemctl restart --no-block presence
done
for node in $nodes; do until_is 200 readiness "$node"; done
until_is 201 say 1 first
for node in $nodes; do until_is 1 head_of_log "$node"; done

step "a gateway stops and starts"
inside 2 systemctl stop presence.socket presence
until_is inactive inside 2 systemctl is-active presence.service
until_is 201 say 3 second
inside 2 systemctl start presence.socket presence
until_is 2 head_of_log 2

step "one server stops, then two"
inside 3 systemctl stop nats-server
until_is 201 say 1 third
inside 2 systemctl stop nats-server
# The first may wait until the servers are back: nobody can know whether they have it.
until_is 503 say 1 'this waits for a server'
inside 2 systemctl start nats-server
inside 3 systemctl start nats-server
until_is 201 say 2 fourth
for node in $nodes; do until_is '{"status":"ok"}' health_of_server "$node"; done
for node in $nodes; do until_is 200 readiness "$node"; done
sleep 5
head=$(head_of_log 2)
for node in $nodes; do until_is "$head" head_of_log "$node"; done

step "a machine is replaced by a backup"
as_presence 1 presence backup /var/tmp/backup --data /var/lib/presence
inside 3 systemctl stop presence.socket presence
cp -a "$folder/node1/var/tmp/backup" "$folder/node3/var/tmp/backup"
inside 3 chown -R presence: /var/tmp/backup
as_presence 3 presence restore /var/tmp/backup --data /var/lib/presence --as-copy --replace
inside 3 systemctl start presence.socket presence
until_is "$head" head_of_log 3

step "a log of its own, and a cluster again"
for node in $nodes; do inside "$node" systemctl stop presence.socket presence; done
as_presence 1 presence cluster leave --data /var/lib/presence --log "$servers?$tls"
set_log 1
inside 1 systemctl start presence.socket presence
until_is 201 say 1 alone
head=$((head + 1))
until_is "$head" head_of_log 1
inside 1 systemctl stop presence.socket presence
as_presence 1 presence cluster adopt --data /var/lib/presence --log "$servers/AGAIN?$tls"
for node in $nodes; do
	if [ "$node" != 1 ]; then
		rm -rf "$folder/node$node/var/lib/presence"
		cp -a "$folder/node1/var/lib/presence" "$folder/node$node/var/lib/presence"
		inside "$node" chown -R presence: /var/lib/presence
	fi
	set_log "$node" "$servers/AGAIN?$tls"
	inside "$node" systemctl start presence.socket presence
done
until_is 201 say 2 together
for node in $nodes; do until_is $((head + 1)) head_of_log "$node"; done

step "certificates of all machines were good"
for node in $nodes; do until_is 0 inside "$node" sh -c "journalctl -u nats-server | grep -c 'verify certificate'"; done
printf '\nAll of it ran.\n'
