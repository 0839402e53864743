#!/usr/bin/env bash
# Generates, formats and tidies everything, and fails if that changes a file. Then
# compares the size of the code with its budget and runs the linters. Uncommitted
# changes are allowed. The generated changes are kept for you to commit.
set -euo pipefail
cd "$(dirname "$0")/.."

# snapshot prints the hash of a tree of all files that git tracks or would track.
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
  echo "verify: the files above were not up to date. They are now: review and commit them." >&2
  exit 1
fi

go run ./hack/budget
make --no-print-directory lint
