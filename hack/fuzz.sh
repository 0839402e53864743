#!/usr/bin/env bash
# Runs each fuzz test of the repository for the given time.
set -euo pipefail
cd "$(dirname "$0")/.."
for module in . load; do
  (
    cd "$module"
    { find . -name '*_test.go' -not -path './load/*' -not -path './hack/*' -exec grep -HoE '^func Fuzz[A-Za-z0-9_]*' {} + || true; } |
      sed -E 's|/[^/]*:func | |' | while read -r package name; do
      echo "$module: $package $name"
      go test -run '^$' -fuzz "^$name\$" -fuzztime "$1" "$package" </dev/null
    done
  )
done
