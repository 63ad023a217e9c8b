#!/usr/bin/env bash
# What a release does, without publishing: the configuration is read as GoReleaser reads
# it, all platforms are built with its flags, the same bytes come out of another folder,
# and the manifest of krew is filled in.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?version, such as v1.2.3}
out=out/release
rm -rf "$out"
mkdir -p "$out/elsewhere"

echo "configuration"
go run -C tools/goreleaser . ../../.goreleaser.yaml

build() { # build FOLDER OS ARCH FILE
  GOOS=$2 GOARCH=$3 CGO_ENABLED=0 go build -C "$1" -trimpath -buildvcs=false \
    -ldflags "-s -w -buildid= -X github.com/kubectl-kruise/kubectl-kruise/internal/cli/version.version=$version" \
    -o "$4" ./cmd/kubectl-kruise
}

pack() { # pack FOLDER BINARY: the same bytes, whenever and by whomever
  tar -C "$1" --mtime=@0 --owner=0 --group=0 --mode=u=rwX,go=rX -cf - LICENSE "$2" kubectl_complete-kruise | gzip -n
}

for os in linux darwin windows; do
  for arch in amd64 arm64; do
    suffix=tar.gz binary=kubectl-kruise
    [ "$os" != windows ] || { suffix=zip; binary=kubectl-kruise.exe; }
    name="kubectl-kruise_${version#v}_${os}_${arch}"
    build . "$os" "$arch" "$PWD/$out/$name/$binary"
    cp LICENSE plugins/completion/kubectl_complete-kruise "$out/$name/"
    # GoReleaser packs on its own; what is in the archive, and its name, are the same.
    pack "$out/$name" "$binary" > "$out/$name.$suffix"
    printf '%-50s %s bytes\n' "$name" "$(stat -c %s "$out/$name/$binary")"
  done
done

echo "the same bytes of another folder"
git archive HEAD | tar -x -C "$out/elsewhere"
here="kubectl-kruise_${version#v}_$(go env GOOS)_$(go env GOARCH)"
mkdir "$out/again"
build "$out/elsewhere" "$(go env GOOS)" "$(go env GOARCH)" "$PWD/$out/again/kubectl-kruise"
cp "$out/elsewhere/LICENSE" "$out/elsewhere/plugins/completion/kubectl_complete-kruise" "$out/again/"
if [ -z "$(git status --porcelain)" ]; then
  pack "$out/again" kubectl-kruise | cmp - "$out/$here.tar.gz"
else
  echo "not compared: the work tree is not clean"
fi

echo "krew"
(cd "$out" && sha256sum ./*.tar.gz ./*.zip | sed 's| \./| |') > "$out/checksums.txt"
(cd "$out" && sha256sum --check --quiet checksums.txt)
go run ./internal/krew/fill "$version" "$out/checksums.txt" "$out/krew.yaml"
echo "$out/krew.yaml"
