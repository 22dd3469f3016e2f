# shellcheck shell=bash
# What try.sh checks with: each prints the command and what it gave, or ends the script.

until_matches() { # until_matches PATTERN COMMAND…
	for _ in $(seq 120); do
		if "${@:2}" 2>/dev/null | grep -e "$1" >/dev/null; then printf '%s: %s\n' "${*:2}" "$1" && return; fi
		sleep 1
	done
	printf 'FAILED: %s never gives "%s"\n' "${*:2}" "$1" >&2 && exit 1
}
expect() { # expect TEXT COMMAND…
	local found
	found=$("${@:2}" 2>&1) || true
	[ "$found" = "$1" ] || { printf 'FAILED: %s gives "%s"\n' "${*:2}" "$found" >&2 && exit 1; }
	printf '%s: %s\n' "${*:2}" "$1"
}
