#!/usr/bin/env bash
# make demo: render a real application, say what happened to it, and plan a rollout of a part of it.
set -euo pipefail
bin=$1 out=$2
shop=examples/shop

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] && [ -z "${NO_COLOR:-}" ] || say() { printf '\n%s\n' "$*"; }

say "1. The shop, as its teams keep it in Git: Kruise objects and plain ones"
"$bin" render -k "$shop/overlays/prod" --target kruise -q | grep -E '^kind:' | sort | uniq -c | sort -rn

say "2. Rendered for a cluster without Kruise: where each sidecar is injected and why, and what differs or is lost"
"$bin" render -k "$shop/overlays/prod" --explain --out "$out" --output-kustomization

say "3. The result, one file per object, in $out"
grep -hE '^kind:' "$out"/*.yaml | grep -v Kustomization | sort | uniq -c | sort -rn

say "4. One of them: the checkout in zone c, with its proxy pair and its log agent"
grep -E '^ +image:|^ +- name: (proxy|log-agent|app)|^  name:|^  replicas:|SPOT' "$out"/shop-orders_deployment_checkout-zone-c.yaml

say "5. A new storefront: preview the change"
present=$(dirname "$out")/prod.yaml plan=$(dirname "$out")/plan.yaml picture=$(dirname "$out")/rollout.svg
"$bin" render -k "$shop/overlays/prod" --target kruise -q > "$present"
change=(--against "$present" --image app=registry.example.com/web/storefront:4.8.0)
"$bin" plan cloneset/storefront "${change[@]}" --steps 1,50%,100% --pause-after 1 --pause 5m --out "$plan"

say "6. Simulate it, second by second, and draw it"
"$bin" simulate "$plan" --against "$present"
"$bin" simulate "$plan" --against "$present" -o svg > "$picture"
echo "the picture: $picture (open it in a browser)"

say "7. And if the third pod does not come up?"
"$bin" simulate "$plan" --against "$present" --fail-pod 3 -o summary || true

say "8. A simulated cluster with rollouts in progress: one blocked, one waiting for approval, one hot upgrade (the last lines)"
"$bin" demo --headless --for 1m | tail -n 14
echo "the same, interactive: $bin demo"

say "Render your own: $bin render -f YOUR-MANIFESTS/ -R"
