#!/usr/bin/env bash
# Prints the path of a nats-server that a cluster can use: the installed one if it is recent
# enough, otherwise one from Debian, unpacked below node_modules/.cache. Needs no root and changes
# nothing of the machine's own apt.
set -euo pipefail

MINIMUM=2.10.23
PATH=$PATH:/usr/sbin:/usr/local/sbin
cache=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/node_modules/.cache/nats-server

# Whether the program is there and not older than the minimum.
recent() {
  local version
  version=$("$1" --version 2>/dev/null | grep -oE '[0-9]+\.[0-9]+\.[0-9]+') || return 1
  [ "$(printf '%s\n' "$MINIMUM" "$version" | sort -V | head -1)" = "$MINIMUM" ]
}

find_server() {
  local candidate
  for candidate in "$(command -v nats-server || true)" "$cache/root/usr/sbin/nats-server"; do
    if [ -n "$candidate" ] && recent "$candidate"; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

# The archives that the machine's own apt names.
mirrors() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null |
    grep -E '^(deb |URIs:)' | grep -oE '(https?|file|mirror\+file):[^ ]+' |
    grep -viE 'security|backports' || true
}

# apt with its own lists, sources and cache, all inside the folder.
private_apt() {
  apt-get -qq -o APT::Sandbox::User="$(id -un)" -o Dir::State="$cache/state" \
    -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache="$cache/cache" \
    -o Dir::Etc::sourcelist="$cache/sources.list" -o Dir::Etc::sourceparts=- \
    -o APT::Update::Error-Mode=any "$@"
}

# Unpacks the package of one suite. Arguments: options of the source, archive, suite.
unpack() {
  rm -rf "$cache/root" "$cache/state" "$cache"/*.deb
  mkdir -p "$cache/state/lists/partial" "$cache/cache/archives/partial"
  echo "deb [$1] $2 $3 main" >"$cache/sources.list"
  (cd "$cache" && private_apt update && private_apt download nats-server) || return 1
  dpkg-deb --extract "$cache"/nats-server_*.deb "$cache/root"
}

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e "$keyring" ] || keyring=${keyring%.gpg}.pgp

find_server && exit
command -v apt-get >/dev/null || {
  echo "Install nats-server $MINIMUM or later: there is no apt-get here to fetch it with." >&2
  exit 1
}
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
find_server && exit
# A keyring that is older than a suite does not know its signature. That suite is then taken
# unsigned: the program only ever serves on this machine, to tests and trials.
for option in "signed-by=$keyring" trusted=yes; do
  for mirror in $(mirrors | awk '!seen[$0]++'); do
    # The newest first: of 2.10.27 in trixie, servers were seen to store different messages.
    for suite in sid trixie; do
      unpack "$option" "$mirror" "$suite" >&2 || continue
      find_server && exit
    done
  done
done
echo "Cannot fetch nats-server $MINIMUM or later from Debian: install it by hand." >&2
exit 1
