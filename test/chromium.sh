#!/bin/sh
# Makes sure that a Chromium is there for the tests of the page. Only root installs it.
set -eu
for name in chromium chromium-browser google-chrome google-chrome-stable; do
	if command -v "$name" >/dev/null; then exit 0; fi
done
install="apt-get update && apt-get install -y --no-install-recommends chromium"
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "installing Chromium: $install"
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium
	exit 0
fi
echo "The tests of the page need Chromium. Install it, then run make test again:" >&2
echo "  sudo sh -c '$install'" >&2
exit 1
