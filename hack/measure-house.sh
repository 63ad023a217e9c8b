#!/usr/bin/env bash
# Measures the source tree: files, packages, exported names, methods of types, copied lines,
# and how often reading Build, Next, Run and Do changes the file (tools/house). FOLDER is
# another checkout of the project to measure, such as one of an older commit.
#   hack/measure-house.sh [FOLDER]
set -euo pipefail
dir=$(realpath "${1:-"$(dirname "$0")/.."}")
cd "$(dirname "$0")/../tools/house"
go run . "$dir"
