#!/bin/sh
# Brings what the benchmarks need from Debian: wrk, which makes the load; nginx with nchan, webdis,
# Redis, PostgreSQL and sqlite3, the peers; and strace, which makes flushes slow.
set -eu

PATH="$PATH:/usr/sbin:/usr/local/sbin"
missing=
command -v wrk >/dev/null || missing="$missing wrk"
command -v nginx >/dev/null || missing="$missing nginx-light"
[ -e /usr/lib/nginx/modules/ngx_nchan_module.so ] || missing="$missing libnginx-mod-nchan"
command -v webdis >/dev/null || missing="$missing webdis"
command -v redis-server >/dev/null || missing="$missing redis-server"
command -v sqlite3 >/dev/null || missing="$missing sqlite3"
command -v strace >/dev/null || missing="$missing strace"
# Debian keeps its programs in a folder of their version.
command -v /usr/lib/postgresql/*/bin/postgres >/dev/null || missing="$missing postgresql"
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
  echo "The benchmarks need:$missing. There is no apt-get here: install them by hand." >&2
  exit 1
fi
if [ "$(id -u)" != 0 ]; then
  echo "The benchmarks need:$missing. As root: apt-get install$missing" >&2
  exit 1
fi

# Debian starts a server when it is installed; nobody asked for one here.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
  trap 'rm -f "$policy"' EXIT
fi

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# The list is split into words on purpose.
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing
