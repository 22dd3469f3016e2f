#!/bin/sh
# Makes an authority for one cluster, and from it a certificate for each machine, which its NATS server and its gateway
# show to the others. `ca.key` stays with you: who has it can join the cluster. Run it again for further machines, or
# with new certificates for the same ones.
#   certificates.sh FOLDER node1 node2 node3
set -eu
umask 077
mkdir -p "$1"
cd "$1"
shift

certify() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 "$@"
}

[ -f ca.key ] || certify -subj /CN=presence -keyout ca.key -out ca.pem
for node; do
	mkdir -p "$node"
	cp ca.pem "$node"
	certify -subj "/CN=$node" -addext "subjectAltName=DNS:$node" -addext basicConstraints=critical,CA:FALSE \
		-CA ca.pem -CAkey ca.key -keyout "$node/node.key" -out "$node/node.pem"
done
