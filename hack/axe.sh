#!/usr/bin/env bash
# Fetches axe-core, which finds what keeps people out of a page, into the per-user cache, and prints its path. It is a
# tool of the tests under the MPL-2.0: no part of it is in this repository or in a page.
set -euo pipefail

version=4.14.1
digest=29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c
cache=${ASSAY_CACHE:-$HOME/.cache/assay}/axe
file=$cache/axe-$version.min.js

if [[ ! -f $file ]]; then
  mkdir -p "$cache"
  work=$(mktemp -d "$cache/.fetch.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  echo "  tool   axe-core $version: fetching" >&2
  (cd "$work" && npm pack --silent "axe-core@$version" >/dev/null && tar -xzf ./*.tgz)
  found=$(sha256sum "$work/package/axe.min.js" | cut -d' ' -f1)
  if [[ $found != "$digest" ]]; then
    echo "axe.sh: axe-core $version has the digest $found, not $digest" >&2
    exit 1
  fi
  mv "$work/package/axe.min.js" "$file"
fi
echo "$file"
