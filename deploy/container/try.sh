#!/usr/bin/env bash
# Builds the Dockerfile with podman where images cannot be pulled, on base images of mmdebstrap. It does
# not run the image. Needs root, mmdebstrap, podman and crun, and Node.js with npm:
#   deploy/container/try.sh [BASE.tar]
# Of the official base images it has the names, a Debian of the same release, and the same Node.js.
set -euo pipefail

source=$(git rev-parse --show-toplevel)
folder=$(mktemp -d)
base=${1:-$folder/base.tar}
run=(podman --root "$folder/storage" --runroot "$folder/run" --cgroup-manager cgroupfs)

finish() {
	"${run[@]}" system reset --force >/dev/null 2>&1 || true
	rm -rf "$folder"
}
trap finish EXIT
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
