#!/usr/bin/env bash
# Brings testdata/conformance, one archive per area, up to date with a folder of
# recordings (default: the one beside the project).
set -euo pipefail
cd "$(dirname "$0")/.."
exec go run ./hack/archive "${1:-../shared/conformance}" testdata/conformance
