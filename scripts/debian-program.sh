#!/usr/bin/env bash
# Prints the path of a program of a Debian package: the installed one if it is recent enough,
# otherwise the one of Debian's newest suite, unpacked below node_modules/.cache. Needs no root and
# changes nothing of the machine's own apt. Arguments: the package, the program's path in it and the
# oldest version that will do; without one, any will.
set -euo pipefail

package=$1 program=$2 minimum=${3:-}
PATH=$PATH:/usr/sbin:/usr/local/sbin
cache=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/node_modules/.cache/$package

# Whether the program is there and not older than the minimum.
recent() {
  local version
  [ -n "$minimum" ] || { [ -x "$1" ] && return; }
  version=$("$1" --version 2>/dev/null | grep -oE '[0-9]+\.[0-9]+\.[0-9]+') || return 1
  [ "$(printf '%s\n' "$minimum" "$version" | sort -V | head -1)" = "$minimum" ]
}

find_program() {
  local candidate
  for candidate in "$(command -v "${program##*/}" || true)" "$cache/root/$program"; do
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
  (cd "$cache" && private_apt update && private_apt download "$package") || return 1
  dpkg-deb --extract "$cache/${package}"_*.deb "$cache/root"
}

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e "$keyring" ] || keyring=${keyring%.gpg}.pgp

find_program && exit
command -v apt-get >/dev/null || {
  echo "Install $package${minimum:+ $minimum or later}: there is no apt-get here to fetch it with." >&2
  exit 1
}
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
find_program && exit
# A keyring that is older than a suite does not know its signature. That suite is then taken
# unsigned: the program only ever serves on this machine, to tests, trials and benchmarks.
for option in "signed-by=$keyring" trusted=yes; do
  for mirror in $(mirrors | awk '!seen[$0]++'); do
    # The newest first: of nats-server 2.10.27 in trixie, servers were seen to store different
    # messages.
    for suite in sid trixie; do
      unpack "$option" "$mirror" "$suite" >&2 || continue
      find_program && exit
    done
  done
done
echo "Cannot fetch $package${minimum:+ $minimum or later} from Debian: install it by hand." >&2
exit 1
