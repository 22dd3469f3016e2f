#!/usr/bin/env bash
# Brings the Debian packages that tests need and that are not there. Needs root.
# With the argument `faults`, also those for faults of a cluster (test/cluster/faults).
set -euo pipefail

# Where Debian has what only root needs, whatever the caller's PATH.
PATH=$PATH:/usr/sbin:/sbin
# Several tests start at once. On the lists, apt waits for no lock by itself.
exec 9>"${TMPDIR:-/tmp}/presence-test-packages.lock"
flock 9

missing=()
for package in strace chromium-headless-shell curl python3 mypy fish zsh openssl caddy nginx haproxy jq perl ruby; do
  command -v "$package" >/dev/null || missing+=("$package")
done
for module in httpx requests; do
  /usr/bin/python3 -c "import $module" 2>/dev/null || missing+=("python3-$module")
done
command -v php >/dev/null || missing+=(php-cli)
command -v go >/dev/null || missing+=(golang-go)
command -v xmllint >/dev/null || missing+=(libxml2-utils)
command -v mkfs.ext4 >/dev/null || missing+=(e2fsprogs)
command -v systemd-analyze >/dev/null || missing+=(systemd)
if [ "${1:-}" = faults ]; then
  command -v ip >/dev/null || missing+=(iproute2)
  command -v iptables >/dev/null || missing+=(iptables)
  compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1' >/dev/null || missing+=(libfaketime)
fi
{ command -v prometheus && command -v promtool; } >/dev/null || wants_prometheus=yes
[ ${#missing[@]} -gt 0 ] || [ -n "${wants_prometheus:-}" ] || exit 0
export DEBIAN_FRONTEND=noninteractive
# Installs daemons without starting them.
export RUNLEVEL=1
apt-get -qq -o DPkg::Lock::Timeout=300 update
[ ${#missing[@]} -eq 0 ] ||
  apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}"
if [ -n "${wants_prometheus:-}" ]; then
  # Only these files: the package, once installed, would start a server.
  folder=$(mktemp -d)
  (cd "$folder" && apt-get -qq download prometheus && dpkg-deb --extract prometheus_*.deb .)
  install "$folder"/usr/bin/{prometheus,promtool} /usr/local/bin/
  rm -r "$folder"
fi
