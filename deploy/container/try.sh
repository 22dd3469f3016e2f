#!/usr/bin/env bash
# Builds the container image where images cannot be pulled, on base images of base-images.sh, and runs it as
# docs/operating.md says, by Docker and by podman; then the services of compose.yaml. Needs root, Debian's docker.io,
# iproute2, mmdebstrap, podman and runc, Node.js with npm, and the dependencies of the repository; some minutes:
#   deploy/container/try.sh [BASE.tar]
# Docker and podman have storage and a network of their own: images, ports and a Docker of the machine are not touched.
# Docker Compose is Debian's newest. The gateway gets no more descriptors than this machine allows.
set -euo pipefail

source=$(git rev-parse --show-toplevel)
folder=$(mktemp -d)
network=${folder##*/}
inside=(nsenter "--net=/run/netns/$network")
export DOCKER_HOST=unix://$folder/docker.sock DOCKER_CONFIG=$folder
# Without systemd, podman has no timers for health checks.
export CONTAINERS_CONF=$folder/containers.conf DISABLE_HC_SYSTEMD=true
podman=("${inside[@]}" podman --root "$folder/podman" --runroot "$folder/podman-run")
limit=$(ulimit -Hn)
docker=
# shellcheck source=deploy/container/checks.sh
. "$source/deploy/container/checks.sh"

start_docker() { # start_docker COMMAND…
	"$@" --data-root "$folder/docker" --exec-root "$folder/docker-run" --pidfile "$folder/docker.pid" \
		--host "$DOCKER_HOST" --group root >>"$folder/docker.log" 2>&1 &
	docker=$!
	until_matches Server docker version
}
stop_docker() {
	kill "$docker"
	wait "$docker" || true
}
finish() {
	docker ps --all --quiet | xargs --no-run-if-empty docker rm --force >/dev/null || true
	"${podman[@]}" system reset --force >/dev/null 2>&1 || true
	[ -z "$docker" ] || stop_docker
	umount "$folder"/docker-run/netns/* 2>/dev/null || true
	ip netns delete "$network" 2>/dev/null || true
	rm -rf "$folder"
}
ask() { "${inside[@]}" curl --silent --cacert "$folder/root.crt" "$@"; }
say() { ask "$1/api/seeds" --data "{\"text\":\"$2\"}" --output /dev/null --write-out '%{http_code}'; }

trap finish EXIT
mkdir "$folder/context" "$folder/cli-plugins"
echo '{}' >"$folder/config.json"
git -C "$source" archive HEAD | tar -x -C "$folder/context"
start_docker dockerd --bridge none --iptables=false
"$source/deploy/container/base-images.sh" "$folder" "${1:-$folder/base.tar}"
cd "$folder/context"
docker build --network host --file deploy/container/Dockerfile --tag open-presence .
stop_docker
ip netns add "$network"
"${inside[@]}" ip link set lo up
start_docker "${inside[@]}" dockerd

# The image alone, again with the volume of a container that was removed, and as another user.
url=http://127.0.0.1:7410
try_image() { # try_image ENGINE…
	local start=("$@" run --detach --name presence --read-only --tmpfs /tmp --env-file deploy/presence.env
		--publish 127.0.0.1:7410:7410 --stop-timeout 300)
	"${start[@]}" --volume presence:/var/lib/presence open-presence
	until_matches breathing ask "$url/api"
	expect 201 say "$url" kept
	[ "$1" = docker ] || "$@" healthcheck run presence
	until_matches '^healthy' "$@" inspect --format '{{.State.Health.Status}}' presence
	until_matches 'Stores in /var/lib/presence' "$@" exec presence presence config
	"$@" run --rm --volumes-from presence open-presence verify --data /var/lib/presence
	"$@" stop presence
	expect 0 "$@" inspect --format '{{.State.ExitCode}}' presence
	"$@" rm presence
	"${start[@]}" --volume presence:/var/lib/presence open-presence
	until_matches kept ask "$url/api/seeds"
	"$@" rm --force presence
	install --directory --owner=1234 "$folder/$1-data"
	"${start[@]}" --user 1234 --volume "$folder/$1-data:/var/lib/presence" open-presence
	until_matches breathing ask "$url/api"
	expect 201 say "$url" 'by another user'
	"$@" rm --force presence
}
try_image docker
printf '%s\n' '[engine]' 'cgroup_manager = "cgroupfs"' 'runtime = "runc"' '[containers]' \
	"default_ulimits = [\"nofile=$limit:$limit\", \"nproc=4096:4096\"]" >"$CONTAINERS_CONF"
docker save open-presence | "${podman[@]}" load
try_image "${podman[@]}"

# The services, twice over the same volumes. Between, the gateway is killed, and Docker starts it again.
compose=$("$source/scripts/debian-program.sh" docker-compose usr/libexec/docker/cli-plugins/docker-compose 2.20.0)
ln -s "$compose" "$folder/cli-plugins/docker-compose"
NODE=node1 ADDRESS=192.0.2.1 CERTIFICATES=/srv docker compose --file deploy/cluster/compose.yaml config --quiet
sed -i "s/nofile: .*/nofile: $limit/" deploy/container/compose.yaml
for service in gateway backup; do docker tag open-presence "open-presence-$service"; done
docker_compose() { docker compose --project-name open-presence "$@"; }
site=https://localhost
try_services() { # try_services TEXT
	until_matches '<html' ask --header 'Accept: text/html' "$site/"
	ask --no-buffer --max-time 10 "$site/api/events" >"$folder/events" &
	sleep 1
	expect 201 say "$site" "$1"
	until_matches "$1" cat "$folder/events"
	# A sample of now: Prometheus would still give an older one of a gateway that it has lost.
	until_matches '"value"' ask --get 127.0.0.1:9090/api/v1/query \
		--data-urlencode "query=timestamp(up == 1) > $(date +%s)"
	until_matches PresenceDown ask 127.0.0.1:9090/api/v1/rules
	docker_compose exec -T backup presence backup /var/backups/presence
	docker_compose exec -T backup presence verify /var/backups/presence
}
root=(docker_compose exec -T caddy cat /data/caddy/pki/authorities/local/root.crt)
for time in first second; do
	PRESENCE_DOMAIN=localhost docker compose --file deploy/container/compose.yaml up --detach
	until_matches BEGIN "${root[@]}" # the second time, it is the authority of the first
	[ -f "$folder/root.crt" ] || "${root[@]}" >"$folder/root.crt"
	try_services "$time"
	until_matches first ask "$site/api/seeds"
	kill -9 "$(docker inspect --format '{{.State.Pid}}' open-presence-gateway-1)"
	until_matches breathing ask "$site/api"
	try_services "$time, killed"
	docker_compose down
done
echo "All of it ran."
