#!/usr/bin/env bash
# What a release does, without publishing: the configuration is read as GoReleaser reads
# it, all platforms are built with its flags, none is larger than its bound, an archive is
# installed, the same bytes come out of another folder, and the manifest of krew is filled in.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?version, such as v1.2.3}
largest=85000000 packed=26000000 # bytes of a program, and of its archive
out=out/release
rm -rf "$out"
mkdir -p "$out/elsewhere" "$out/releases/$version"

echo "configuration"
go run -C tools/goreleaser . ../../.goreleaser.yaml

build() { # build FOLDER OS ARCH FILE
  GOOS=$2 GOARCH=$3 CGO_ENABLED=0 go build -C "$1" -trimpath -buildvcs=false \
    -ldflags "-s -w -buildid= -X github.com/kubectl-kruise/kubectl-kruise/internal/cli/version.version=$version" \
    -o "$4" ./cmd/kubectl-kruise
}

# What each archive holds beside the program: as in .goreleaser.yaml.
beside="LICENSE THIRD-PARTY-LICENSES kubectl_complete-kruise kubectl_complete-kruise.cmd"
gather() { # gather CHECKOUT FOLDER
  cp "$1/LICENSE" "$1/THIRD-PARTY-LICENSES" "$1/plugins/completion/kubectl_complete-kruise" "$1/plugins/completion/kubectl_complete-kruise.cmd" "$2/"
}

pack() { # pack FOLDER BINARY FILE: the same bytes, whenever and by whomever
  # shellcheck disable=SC2086 # a list of names without spaces
  case $3 in
  *.zip) (cd "$1" && touch -d @315532800 "$2" $beside && TZ=UTC zip -q -X "$3" $beside "$2") ;;
  *) tar -C "$1" --mtime=@0 --owner=0 --group=0 --mode=u=rwX,go=rX -cf - $beside "$2" | gzip -n > "$3" ;;
  esac
}

check() { # check ARCHIVE OS ARCH BINARY: unpack it, and look at what is there
  rm -rf "$out/check" && mkdir "$out/check"
  case $1 in *.zip) unzip -q "$1" -d "$out/check" ;; *) tar -xzf "$1" -C "$out/check" ;; esac
  for file in $beside "$4"; do
    [ -s "$out/check/$file" ] || { echo "error: $1 has no $file" >&2; exit 1; }
  done
  [ -x "$out/check/kubectl_complete-kruise" ] && [ -x "$out/check/$4" ]
  go version -m "$out/check/$4" > "$out/check/built"
  grep -q "GOOS=$2\$" "$out/check/built" && grep -q "GOARCH=$3\$" "$out/check/built" && grep -q 'CGO_ENABLED=0$' "$out/check/built" ||
    { echo "error: $1 holds a program for another platform:" >&2; cat "$out/check/built" >&2; exit 1; }
}

for os in linux darwin windows; do
  for arch in amd64 arm64; do
    suffix=tar.gz binary=kubectl-kruise
    [ "$os" != windows ] || { suffix=zip; binary=kubectl-kruise.exe; }
    name="kubectl-kruise_${version#v}_${os}_${arch}"
    build . "$os" "$arch" "$PWD/$out/$name/$binary"
    gather . "$out/$name"
    # GoReleaser packs on its own; what is in the archive, and its name, are the same.
    pack "$out/$name" "$binary" "$PWD/$out/releases/$version/$name.$suffix"
    size=$(stat -c %s "$out/$name/$binary")
    printf '%-50s %s bytes\n' "$name" "$size"
    [ "$size" -le "$largest" ] || { echo "error: more than $largest bytes" >&2; exit 1; }
    [ "$(stat -c %s "$out/releases/$version/$name.$suffix")" -le "$packed" ] || { echo "error: the archive has more than $packed bytes" >&2; exit 1; }
    check "$PWD/$out/releases/$version/$name.$suffix" "$os" "$arch" "$binary"
    rm -rf "${out:?}/$name"
  done
done

echo "checksums"
(cd "$out/releases/$version" && sha256sum ./*.tar.gz ./*.zip | sed 's| \./| |' > checksums.txt && sha256sum --check --quiet checksums.txt)
cp "$out/releases/$version/checksums.txt" "$out/checksums.txt"

echo "installed, as jobs do it"
KRUISE_VERIFY=checksum KRUISE_RELEASES="file://$PWD/$out/releases" plugins/ci/install.sh "$version" "$out/installed"
"$out/installed/kubectl-kruise" lint -f examples/cloneset/app.yaml

echo "the same bytes of another folder"
git archive HEAD | tar -x -C "$out/elsewhere"
here="kubectl-kruise_${version#v}_$(go env GOOS)_$(go env GOARCH)"
mkdir "$out/again"
build "$out/elsewhere" "$(go env GOOS)" "$(go env GOARCH)" "$PWD/$out/again/kubectl-kruise"
gather "$out/elsewhere" "$out/again"
if [ -z "$(git status --porcelain)" ]; then
  pack "$out/again" kubectl-kruise "$PWD/$out/again.tar.gz"
  cmp "$out/again.tar.gz" "$out/releases/$version/$here.tar.gz"
else
  echo "not compared: the work tree is not clean"
fi

echo "krew"
go run ./internal/generate krew "$version" "$out/checksums.txt" "$out/krew.yaml"
echo "$out/krew.yaml"
