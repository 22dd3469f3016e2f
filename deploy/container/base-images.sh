#!/usr/bin/env bash
# Imports into Docker what stands in for the images that the Dockerfile and compose.yaml name, for try.sh: they have the
# names and the commands of the official ones, but hold a Debian of the same release with the Node.js of this
# repository, and Debian's Caddy and Prometheus. Arguments: a folder to work in, and a Debian of mmdebstrap to use
# again, or to make there.
set -euo pipefail

folder=$1 base=$2
source=$(git rev-parse --show-toplevel)
node=$folder/node

[ -f "$base" ] || mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$base"
docker import "$base" docker.io/library/debian:bookworm-slim

mkdir -p "$node/usr/local/bin" "$node/usr/local/lib/node_modules" "$node/etc/ssl"
tar -xf "$base" -C "$node" --exclude='./dev/*'
cp "$source/node_modules/node/bin/node" "$node/usr/local/bin/"
cp --no-dereference /usr/lib/*-linux-gnu/libatomic.so.1* "$node/usr/lib/"
npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
cp -r "$npm" "$node/usr/local/lib/node_modules/"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$node/usr/local/bin/npm"
# For a machine whose way to the registry has certificates of its own.
cp -rL --remove-destination /etc/ssl/certs "$node/etc/ssl/"
tar -c -C "$node" . | docker import --change 'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt' - \
	"$(grep -oE 'docker.io/library/node:\S+' "$source/deploy/container/Dockerfile")"
rm -r "$node"

# shellcheck disable=SC2016
mmdebstrap --quiet --variant=minbase --include=ca-certificates,caddy,prometheus \
	--customize-hook='install --directory --owner=65534 --group=65534 "$1/prometheus"' bookworm "$folder/services.tar"
image_of() { grep -oE "docker.io/\S+/$1:\S+" "$source/deploy/container/compose.yaml"; }
docker import --change 'ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data' \
	--change 'CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]' \
	"$folder/services.tar" "$(image_of caddy)"
docker import --change 'USER 65534' --change 'WORKDIR /prometheus' --change 'VOLUME /prometheus' \
	--change 'ENTRYPOINT ["prometheus"]' \
	--change 'CMD ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]' \
	"$folder/services.tar" "$(image_of prometheus)"
rm "$folder/services.tar"
