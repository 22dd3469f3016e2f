#!/bin/sh
# Prints the path of a nats-server that a cluster can use, the installed one or one from Debian.
exec "$(dirname "$0")/debian-program.sh" nats-server usr/sbin/nats-server 2.10.23
