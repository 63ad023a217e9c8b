#!/usr/bin/env bash
# Runs every fuzz target of the project for the given time, one after another, and
# then many more random rollouts than the tests do.
set -euo pipefail
time=${1:-10m}
grep -rlE '^func Fuzz' --include='*_test.go' . | sort | while read -r file; do
  grep -oE '^func Fuzz[A-Za-z0-9_]*' "$file" | awk '{print $2}' | while read -r target; do
    echo "== $target ($(dirname "$file"))"
    go test "$(dirname "$file")" -run '^$' -fuzz "^${target}\$" -fuzztime "$time" -fuzzminimizetime 1x
  done
done
echo "== a hundred thousand random rollouts (./pkg/plan)"
go test ./pkg/plan -run '^TestHistories$' -histories 100000 -timeout 2h
