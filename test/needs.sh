#!/bin/sh
# Makes sure of the programs that tests run: a Chromium for those of the page, curl for
# those of the API, Node for those of its clients, a Postgres server for those of its store. Only root installs them;
# anybody else is told the command.
set -eu
missing=""
found=""
for name in chromium chromium-browser google-chrome google-chrome-stable; do
	if command -v "$name" >/dev/null; then found=yes; fi
done
[ -n "$found" ] || missing="$missing chromium"
command -v curl >/dev/null || missing="$missing curl"
command -v node >/dev/null || missing="$missing nodejs"
command -v npm >/dev/null || missing="$missing npm"
command -v openssl >/dev/null || missing="$missing openssl"
command -v bwrap >/dev/null || missing="$missing bubblewrap"
[ -x /usr/bin/python3 ] || missing="$missing python3"
# Debian keeps the server's programs out of PATH.
found=""
for program in $(command -v initdb || true) /usr/lib/postgresql/*/bin/initdb; do
	if [ -x "$program" ]; then found=yes; fi
done
[ -n "$found" ] || missing="$missing postgresql"
[ -n "$missing" ] || exit 0

install="apt-get update && apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "installing what tests need: $install"
	apt-get update -qq
	# shellcheck disable=SC2086 # a list of names
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
	exit 0
fi
echo "The tests need$missing. Install it, then run make test again:" >&2
echo "  sudo sh -c '$install'" >&2
exit 1
