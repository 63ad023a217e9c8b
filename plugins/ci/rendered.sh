#!/bin/sh
# Renders a kustomization and commits the result on an environment branch, which Argo CD or
# Flux follows. A render that changes nothing makes no commit. More: docs/rendered-manifests.md
#
#   rendered.sh FOLDER BRANCH [more flags of render]
set -eu
folder=$1 branch=$2
shift 2
title="render $folder at $(git rev-parse --short HEAD)"
work=$(mktemp -d)
trap 'rm -rf "$work"; git worktree prune' EXIT

found=0 # 2 is a branch that does not exist yet: it starts with an empty commit
git ls-remote --quiet --exit-code origin "refs/heads/$branch" >/dev/null || found=$?
case $found in
0)
	git fetch --quiet origin "refs/heads/$branch"
	start=$(git rev-parse FETCH_HEAD)
	;;
2) start=$(git commit-tree -m "an empty $branch" "$(git mktree </dev/null)") ;;
*) exit "$found" ;;
esac
git worktree add --quiet --detach "$work/tree" "$start"

kubectl-kruise render -k "$folder" --out "$work/tree/manifests" --output-kustomization "$@"
git -C "$work/tree" add --all manifests
if git -C "$work/tree" diff --cached --quiet; then
	echo "$branch: nothing changed"
	exit 0
fi
differs=0 # 1 is a difference, more is an error
(cd "$work/tree" && kubectl-kruise diff --git HEAD manifests) >"$work/changes" || differs=$?
[ "$differs" -le 1 ] || exit "$differs"
printf '%s\n\n' "$title" | cat - "$work/changes" | git -C "$work/tree" commit --quiet -F -
git push --quiet origin "$(git -C "$work/tree" rev-parse HEAD):refs/heads/$branch"
echo "$branch: $title"
