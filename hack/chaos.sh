#!/usr/bin/env bash
# Tells random histories of rollouts in parts, and keeps where it is in a file: called
# again after an interruption it continues there. A part that fails is told again first.
#   hack/chaos.sh FIRST COUNT PART FILE
set -euo pipefail
first=$1 end=$(($1 + $2)) part=$3 kept=$4
mkdir -p "$(dirname "$kept")"
next=$(cat "$kept" 2>/dev/null || echo "$first")
if ((next < first || next >= end)); then next=$first; fi
for (( ; next < end; next += part)); do
  echo "$next" >"$kept"
  count=$((end - next < part ? end - next : part))
  echo "== histories $next to $((next + count - 1))"
  CHAOS_SEED=$next CHAOS_HISTORIES=$count go test -C test ./e2e/rollout -run '^TestChaos_EndsInThePlannedState$' -count=1 -timeout 30m
done
rm -f "$kept"
