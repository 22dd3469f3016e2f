#!/usr/bin/env bash
# Builds the Dockerfile with podman where images cannot be pulled, on base images of mmdebstrap, and runs the image and
# the services of compose.yaml. Needs root, the packages mmdebstrap, podman and runc, the ports 80, 443, 7410 and 9090,
# Node.js with npm, and the dependencies of the repository and its tests:
#   deploy/container/try.sh [BASE.tar]
# Of the official base images it has the names, a Debian of the same release, and the same Node.js; of those of Caddy and
# Prometheus, the names and Debian's packages. Limits of descriptors and health checks, which need systemd, are left out.
set -euo pipefail

source=$(git rev-parse --show-toplevel)
folder=$(mktemp -d)
base=${1:-$folder/base.tar}
run=(podman --root "$folder/storage" --runroot "$folder/run" --cgroup-manager cgroupfs --runtime runc)
limits=$(ulimit -Hn)
start=("${run[@]}" run --detach --no-healthcheck --ulimit "nofile=$limits:$limits" --ulimit nproc=4096:4096)

finish() {
	"${run[@]}" system reset --force >/dev/null 2>&1 || true
	rm -rf "$folder"
}
trap finish EXIT
until_matches() { # until_matches PATTERN COMMAND…
	local pattern=$1
	shift
	for _ in $(seq 120); do
		if "$@" 2>/dev/null | grep -q "$pattern"; then printf '%s: %s\n' "$*" "$pattern" && return; fi
		sleep 1
	done
	printf 'FAILED: %s never gives "%s"\n' "$*" "$pattern" >&2 && exit 1
}
expect() { # expect TEXT COMMAND…
	local wanted=$1 found
	shift
	found=$("$@" 2>&1) || true
	[ "$found" = "$wanted" ] || { printf 'FAILED: %s gives "%s"\n' "$*" "$found" >&2 && exit 1; }
	printf '%s: %s\n' "$*" "$wanted"
}

[ -f "$base" ] || mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$base"
"${run[@]}" import "$base" docker.io/library/debian:bookworm-slim
mkdir -p "$folder/node/usr/local/bin" "$folder/node/usr/local/lib/node_modules" "$folder/node/etc/ssl"
tar -xf "$base" -C "$folder/node" --exclude='./dev/*'
cp "$source/node_modules/node/bin/node" "$folder/node/usr/local/bin/"
cp --no-dereference /usr/lib/*-linux-gnu/libatomic.so.1* "$folder/node/usr/lib/"
cp -r "$(npm root --global 2>/dev/null)/npm" "$folder/node/usr/local/lib/node_modules/"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$folder/node/usr/local/bin/npm"
# For a machine whose way to the registry has certificates of its own.
cp -rL --remove-destination /etc/ssl/certs "$folder/node/etc/ssl/"
image=$(grep -oE 'docker.io/library/node:\S+' "$source/deploy/container/Dockerfile")
tar -c -C "$folder/node" . | "${run[@]}" import \
	--change "ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt" - "$image"
rm -r "$folder/node"

mkdir "$folder/context"
git -C "$source" archive HEAD | tar -x -C "$folder/context"
"${run[@]}" build --isolation chroot --network host --pull-never --file "$folder/context/deploy/container/Dockerfile" \
	--format docker --tag open-presence "$folder/context"
"${run[@]}" image ls
expect 7410:7410 "${run[@]}" image inspect --format '{{.Config.User}}' open-presence

# As docs/operating.md runs it; the second time with the volume of the first.
url=http://127.0.0.1:7410
run_alone() {
	"${start[@]}" --name presence --read-only --tmpfs /tmp --volume presence:/var/lib/presence \
		--env-file "$source/deploy/presence.env" --publish 127.0.0.1:7410:7410 --stop-timeout 300 open-presence
	until_matches breathing curl -s "$url/api"
}
run_alone
expect 201 curl -s -o /dev/null -w '%{http_code}' "$url/api/seeds" -d '{"text":"kept"}'
health=$("${run[@]}" image inspect --format '{{index .Config.Healthcheck.Test 3}}' open-presence)
expect "" "${run[@]}" exec presence node -e "$health"
until_matches 'Stores in /var/lib/presence' "${run[@]}" exec presence presence config
"${run[@]}" stop presence
expect 0 "${run[@]}" inspect --format '{{.State.ExitCode}}' presence
"${run[@]}" rm presence
run_alone
until_matches kept curl -s "$url/api/seeds"
"${run[@]}" rm --force presence

# The services of compose.yaml: twice, over the same volumes.
mmdebstrap --quiet --variant=minbase --include=ca-certificates,caddy,prometheus bookworm "$folder/services.tar"
image_of() { grep -oE "docker.io/\S+/$1:\S+" "$source/deploy/container/compose.yaml"; }
"${run[@]}" import --change 'CMD caddy run --config /etc/caddy/Caddyfile' "$folder/services.tar" "$(image_of caddy)"
"${run[@]}" import --change 'CMD prometheus --config.file=/etc/prometheus/prometheus.yml --storage.tsdb.path=/prometheus' "$folder/services.tar" \
	"$(image_of prometheus)"
"${run[@]}" network create presence
site=https://localhost
ask=(curl --silent --insecure)
for time in first second; do
	"$source/node_modules/.bin/node" "$source/scripts/compose-runs.ts" "$source/deploy/container/compose.yaml" \
		PRESENCE_DOMAIN=localhost >"$folder/runs"
	while read -r line; do
		eval "\"\${start[@]}\" $line" </dev/null
	done <"$folder/runs"
	until_matches breathing "${ask[@]}" "$site/api"
	expect 201 "${ask[@]}" "$site/api/seeds" -o /dev/null -w '%{http_code}' -d "{\"text\":\"the $time\"}"
	until_matches 'the first' "${ask[@]}" "$site/api/seeds"
	timeout 5 "${ask[@]}" "$site/api/events" --no-buffer >"$folder/events" &
	sleep 1
	expect 201 "${ask[@]}" "$site/api/seeds" -o /dev/null -w '%{http_code}' -d '{"text":"live"}'
	until_matches live cat "$folder/events"
	until_matches '"1"' curl -s '127.0.0.1:9090/api/v1/query?query=up'
	until_matches PresenceServerMissing curl -s 127.0.0.1:9090/api/v1/rules
	"${run[@]}" exec backup presence backup /var/backups/presence
	"${run[@]}" exec backup presence verify /var/backups/presence
	# Prometheus has the network of the gateway, and goes before it.
	for name in caddy prometheus backup gateway; do "${run[@]}" rm --force --time 5 "$name"; done
done
echo "All of it ran."
