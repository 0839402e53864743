#!/usr/bin/env bash
# Generates, formats and tidies everything, and fails when that changed a file;
# then lints. In a checkout with changes of its own only what this adds to them
# counts. What it changed is left for you to look at and commit.
set -euo pipefail
cd "$(dirname "$0")/.."

# snapshot names the state of all files that git tracks or would track.
snapshot() {
  local index
  index=$(mktemp -u)
  export GIT_INDEX_FILE=$index
  git read-tree HEAD
  git add --all
  git write-tree
  unset GIT_INDEX_FILE
  rm -f "$index"
}

before=$(snapshot)
make --no-print-directory generate fmt tidy
after=$(snapshot)
if [[ $before != "$after" ]]; then
  git --no-pager diff --stat -p "$before" "$after" | head -200
  echo "verify: these files weren't as generated, formatted or tidied; commit what was changed now" >&2
  exit 1
fi

make --no-print-directory lint
