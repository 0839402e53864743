#!/usr/bin/env bash
# Looks for known vulnerabilities in the code that both modules call. Needs the
# database of https://vuln.go.dev, or a copy of it in VULN_DB: a URL, such as
# file:///srv/vulndb. Fails if it finds one. Exits with 2 if it can't reach the
# database, which says nothing about the code.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
hack/tools/build.sh govulncheck

database=${VULN_DB:-https://vuln.go.dev}
output=$(mktemp)
trap 'rm -f "$output"' EXIT
for module in . k6; do
  echo "== ${module/#./root module}"
  status=0
  (cd "$module" && govulncheck -db "$database" ./...) >"$output" 2>&1 || status=$?
  if grep -q 'fetching vulnerabilities' "$output"; then
    tail -1 "$output" >&2
    echo "vulncheck: $database can't be read, so nothing was checked. Run it where it can, or set VULN_DB to a copy." >&2
    exit 2
  fi
  cat "$output"
  ((status == 0)) || exit "$status"
done
