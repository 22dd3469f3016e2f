#!/usr/bin/env bash
# Brings the Debian packages that tests need and that are not there. Needs root.
set -euo pipefail

command -v strace >/dev/null && exit 0
export DEBIAN_FRONTEND=noninteractive
apt-get -qq -o DPkg::Lock::Timeout=300 update
apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends strace
