#!/usr/bin/env bash
# Runs every fuzz target of the project for the given time, one after another, at random and by the fuzzer, and
# then many more random rollouts than the tests do. What has passed is kept in a file: called
# again after an interruption, or after a finding was mended, it continues there.
#   hack/fuzz.sh TIME FILE
set -euo pipefail
time=$1 kept=$2
mkdir -p "$(dirname "$kept")"
touch "$kept"

once() { # once NAME COMMAND...
  if grep -qxF "$1 $time" "$kept"; then return; fi
  echo "== $1"
  "${@:2}"
  echo "$1 $time" >>"$kept"
}

while read -r folder target; do
  if grep -qs 'internal/testing/distort"' "$folder"/*_test.go; then # thousands a second, without the fuzzer's counters
    once "$folder $target at random" go test "$folder" -run "^$target\$" -timeout 0 -tries "$time" </dev/null
  fi
  once "$folder $target" go test "$folder" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 0x </dev/null
done < <(grep -rE --include='*_test.go' '^func Fuzz' . | sed -E 's|^(.*)/[^/]*:func (Fuzz[A-Za-z0-9_]*).*|\1 \2|' | sort)
once "a hundred thousand random rollouts" go test ./pkg/plan -run '^TestRollout_RandomHistories$' -histories 100000 -timeout 2h
rm -f "$kept"
