#!/usr/bin/env bash
# Lists functions that no command and no test of any module reaches. Examples in the
# documentation of a package are compiled and not run; they do not count.
#   hack/deadcode.sh DEADCODE
set -euo pipefail
cd "$(dirname "$0")/.."
deadcode=$(realpath "$1")
dead() { # FOLDER: the functions of the product which that module does not reach, and what it does not load
  (cd "$1" && "$deadcode" -test -filter '^github.com/kubectl-kruise/kubectl-kruise(/|$)' -f '{{range .Funcs}}{{println $.Path .Name}}{{end}}' ./... | sort -u)
}
loaded=$(cd test && go list -test -deps ./... | sed 's/ .*//' | sort -u)
others=$(dead test)
found=0
while read -r path name; do
  case "$name" in '' | Example*) continue ;; esac
  if ! grep -qxF "$path" <<<"$loaded" || grep -qxF "$path $name" <<<"$others"; then
    echo "$path: $name is not reached"
    found=1
  fi
done < <(dead .)
exit "$found"
