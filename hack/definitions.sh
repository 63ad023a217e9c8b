#!/usr/bin/env bash
# Brings testdata/definitions, one archive per release, up to date with a folder of
# definitions (default: those beside the project) that has one folder per release; next
# is Kruise's main branch.
set -euo pipefail
cd "$(dirname "$0")/.."
releases=${1:-../shared/crds-by-release}
next=${2:-../shared/crds}
all=$(mktemp -d)
trap 'rm -rf "$all"' EXIT
for dir in "$releases"/*/; do
  mkdir "$all/$(basename "$dir")"
  cp "$dir"*.yaml "$all/$(basename "$dir")/"
done
mkdir "$all/next"
cp "$next"/*.yaml "$all/next/"
go run ./hack/archive "$all" testdata/definitions
