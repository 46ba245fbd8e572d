#!/usr/bin/env bash
# release.sh OUT makes a release in the directory OUT, which it empties: an archive for each platform, one of the
# default set, software bills of materials, and SHA256SUMS. Two runs on one commit give the same bytes: paths,
# times, owners and order are taken from the commit alone.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:?release.sh OUT}")
version=${VERSION:-$(git describe --tags --always --dirty)}
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export CGO_ENABLED=0 GOFLAGS="-trimpath -buildvcs=false -mod=readonly" LC_ALL=C TZ=UTC
sbom=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$out"
mkdir -p "$out"

build() { # OS ARCH FILE
	GOOS=$1 GOARCH=$2 go build -ldflags "-s -w -buildid= -X macaron/cmd/macaron/cli.Version=$version" -o "$3" ./cmd/macaron
}

pack() { # NAME: the directory $work/NAME becomes $out/NAME.tar.gz
	chmod -R u=rwX,go=rX "$work/$1"
	tar --create --directory "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar "$1" | gzip -n -9 >"$out/$1.tar.gz"
	echo "made $1.tar.gz"
}

mkdir -p "$work/pages" "$work/completions"
build "$(go env GOHOSTOS)" "$(go env GOHOSTARCH)" "$work/here"
"$work/here" man "$work/pages"
for shell in bash zsh fish; do "$work/here" completion $shell >"$work/completions/macaron.$shell"; done

# The SBOM's tool runs here and looks at what is built for elsewhere.
GOFLAGS="-trimpath -buildvcs=false" GOBIN=$work/tools go install "$sbom"

for target in linux/amd64 linux/arm64 darwin/arm64; do
	os=${target%/*} arch=${target#*/} name=macaron-$version-${target%/*}-${target#*/}
	mkdir -p "$work/$name"
	build "$os" "$arch" "$work/$name/macaron"
	cp -r LICENSE "$work/pages" "$work/completions" "$work/$name/"
	mv "$work/$name/pages" "$work/$name/man1"
	if [ "$os" = linux ]; then cp deploy/systemd/macaron.service "$work/$name/"; fi
	pack "$name"
	GOOS=$os GOARCH=$arch "$work/tools/cyclonedx-gomod" app -json -noserial -notimestamp -main cmd/macaron -output "$out/$name.cdx.json" . 2>/dev/null
done

set=macaron-$version-default-set
mkdir -p "$work/$set"
cp -r macaron.toml adapters LICENSE "$work/$set/"
pack "$set"
(cd "$out" && sha256sum -- *.tar.gz *.cdx.json >SHA256SUMS)
echo "made SHA256SUMS in $out"
