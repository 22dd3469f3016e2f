#!/usr/bin/env bash
# Brings the Debian packages that tests need and that are not there. Needs root.
set -euo pipefail

missing=()
for package in strace chromium curl python3; do
  command -v "$package" >/dev/null || missing+=("$package")
done
command -v xmllint >/dev/null || missing+=(libxml2-utils)
command -v mkfs.ext4 >/dev/null || missing+=(e2fsprogs)
[ ${#missing[@]} -gt 0 ] || exit 0
export DEBIAN_FRONTEND=noninteractive
apt-get -qq -o DPkg::Lock::Timeout=300 update
apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}"
