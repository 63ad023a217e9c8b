#!/usr/bin/env bash
# make demo: render a real application and say what happened to it.
set -euo pipefail
bin=$1 out=$2
shop=examples/shop

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] && [ -z "${NO_COLOR:-}" ] || say() { printf '\n%s\n' "$*"; }

say "1. The shop, as its teams keep it in Git: Kruise objects and plain ones"
"$bin" render -k "$shop/overlays/prod" --target kruise -q | grep -E '^kind:' | sort | uniq -c | sort -rn

say "2. Rendered for a cluster without Kruise: why each sidecar went where, and what is bent or lost"
"$bin" render -k "$shop/overlays/prod" --explain --output-dir "$out" --output-kustomization

say "3. What came out, one file per object, in $out"
grep -hE '^kind:' "$out"/*.yaml | grep -v Kustomization | sort | uniq -c | sort -rn

say "4. One of them: the checkout in zone c, with its proxy pair and its log agent"
grep -E '^ +image:|^ +- name: (proxy|log-agent|app)|^  name:|^  replicas:|SPOT' "$out"/shop-orders_deployment_checkout-zone-c.yaml

say "Render your own: $bin render -f YOUR-MANIFESTS/ -R"
