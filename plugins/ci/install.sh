#!/usr/bin/env bash
# Installs kubectl-kruise from a release: install.sh VERSION FOLDER [DOWNLOADS]
#
# The archive is used only where its SHA-256 is in checksums.txt, and checksums.txt only
# where cosign finds the signature of this project's release workflow for this version.
# DOWNLOADS keeps the files, for a cache; they are checked in every run.
#
#   KRUISE_VERIFY=checksum   do without cosign: the checksum is compared, the signature not
#   KRUISE_RELEASES=URL      where releases are, in a mirror
set -euo pipefail

usage='usage: install.sh VERSION FOLDER [DOWNLOADS]'
version=${1:?$usage} folder=${2:?$usage}
downloads=${3:-$(mktemp -d)}
verify=${KRUISE_VERIFY:-signature}
releases=${KRUISE_RELEASES:-https://github.com/kubectl-kruise/kubectl-kruise/releases/download}
workflow=https://github.com/kubectl-kruise/kubectl-kruise/.github/workflows/release.yaml

fail() { echo "error: $*" >&2; exit 1; }

[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || fail "version $version is not like v1.2.3"
case $verify in
signature) command -v cosign > /dev/null || fail "cosign is not on the PATH; install it, or set KRUISE_VERIFY=checksum" ;;
checksum) ;;
*) fail "KRUISE_VERIFY=$verify: signature or checksum" ;;
esac

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
MINGW* | MSYS* | CYGWIN*) os=windows ;;
*) fail "there is no release for $(uname -s)" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no release for $(uname -m)" ;;
esac
suffix=tar.gz binary=kubectl-kruise helper=kubectl_complete-kruise
[ "$os" != windows ] || { suffix=zip; binary=kubectl-kruise.exe; helper=kubectl_complete-kruise.cmd; }
archive=kubectl-kruise_${version#v}_${os}_${arch}.$suffix

get() { # get FILE: from the release, unless it is there already
  [ -s "$downloads/$1" ] && return
  curl --fail --silent --show-error --location --retry 3 --output "$downloads/$1.part" "$releases/$version/$1" ||
    fail "cannot download $releases/$version/$1"
  mv "$downloads/$1.part" "$downloads/$1"
}

sha256() { if command -v sha256sum > /dev/null; then sha256sum; else shasum -a 256; fi | cut -d' ' -f1; }

mkdir -p "$downloads" "$folder"
get checksums.txt
if [ "$verify" = signature ]; then
  get checksums.txt.sigstore.json
  cosign verify-blob --bundle "$downloads/checksums.txt.sigstore.json" \
    --certificate-identity "$workflow@refs/tags/$version" \
    --certificate-oidc-issuer https://token.actions.githubusercontent.com \
    "$downloads/checksums.txt" || fail "checksums.txt of $version is not signed by the release workflow"
fi
get "$archive"
want=$(awk -v name="$archive" '$2 == name || $2 == "*" name {print $1}' "$downloads/checksums.txt")
[ -n "$want" ] || fail "checksums.txt of $version has no $archive"
have=$(sha256 < "$downloads/$archive")
[ "$have" = "$want" ] || fail "$archive has the SHA-256 $have, but checksums.txt of $version says $want"

if [ "$suffix" = zip ]; then
  unzip -o -q "$downloads/$archive" "$binary" "$helper" -d "$folder"
else
  tar -x -z -f "$downloads/$archive" -C "$folder" "$binary" "$helper"
fi
said=$("$folder/$binary" version)
case $said in
"kubectl-kruise $version "*) echo "$said" ;;
*) fail "the archive of $version holds another version: $said" ;;
esac
