#!/usr/bin/env bash
# Runs each fuzz test of the repository for the given time, and prints how often each was executed.
set -euo pipefail
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
total=0
for module in . k6; do
  while read -r package name; do
    # Minimizing an input takes up to a minute by default, in which nothing is executed.
    if ! (cd "$module" && go test -run '^$' -fuzz "^$name\$" -fuzztime "$1" -fuzzminimizetime 100x "$package") >"$log" 2>&1; then
      cat "$log"
      echo "FAIL $module: $package $name"
      exit 1
    fi
    executions=$(sed -nE 's/.*execs: ([0-9]+).*/\1/p' "$log" | tail -1)
    total=$((total + executions))
    printf '%12d  %s %s\n' "$executions" "$package" "$name"
  done < <(cd "$module" &&
    { find . -name '*_test.go' -not -path './k6/*' -not -path './hack/*' -exec grep -HoE '^func Fuzz[A-Za-z0-9_]*' {} + || true; } |
    sed -E 's|/[^/]*:func | |' | sort)
done
printf '%12d  executions without a finding\n' "$total"
