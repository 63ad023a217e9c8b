#!/usr/bin/env bash
# The benchmarks of two commits, side by side on this machine, with how sure the
# difference is: this work tree against BASE, the newest tag or else the parent commit.
set -euo pipefail
cd "$(dirname "$0")/.."
base=${1:-$(git describe --tags --abbrev=0 2>/dev/null || git rev-parse HEAD^)}
count=${2:-6}
packages="./pkg/render ./pkg/render/compare ./pkg/plan ./pkg/plan/simulate ./pkg/tui"
out=$PWD/out/bench-compare
rm -rf "$out"
mkdir -p "$out/base"
git archive "$base" | tar -x -C "$out/base"

measure() { # measure FOLDER FILE
  # shellcheck disable=SC2086 # they are several
  go test -C "$1" -run '^$' -bench . -benchtime 2x -count "$count" $packages > "$2" || cat "$2" >&2
}

echo "measuring $base" >&2
measure "$out/base" "$out/old.txt"
echo "measuring this work tree" >&2
measure . "$out/new.txt"
go run golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da "$out/old.txt" "$out/new.txt"
