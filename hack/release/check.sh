#!/usr/bin/env bash
# Fails unless the tree is ready to be tagged with a version: chart, manifests and docs name it, and the changelog has a
# section for it. Writes that section to bin/release-notes.md.
#
#   hack/release/check.sh VERSION
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
version=${1:-}

have=$(hack/release/version.sh)
if [[ $have != "$version" ]]; then
  echo "release-check: the tree has version $have, not $version. Run make set-version VERSION=$version, and commit what it changes." >&2
  exit 1
fi
if ! grep -q '^ARG GO_IMAGE=.*@sha256:[0-9a-f]\{64\}$' Dockerfile; then
  echo "release-check: the Dockerfile names its base image by a tag only. Run make pin-base-image, and commit what it changes." >&2
  exit 1
fi
mkdir -p bin
# The section ends at the next one, or at the links at the end of the file.
awk -v heading="## [$version]" '
  index($0, heading) == 1 { found = 1; next }
  found && (/^## / || /^\[[^]]*\]: /) { exit }
  found { print }' CHANGELOG.md >bin/release-notes.md
if ! grep -q '[^[:space:]]' bin/release-notes.md; then
  echo "release-check: CHANGELOG.md has no section \"## [$version] - $(date -u +%F)\". Rename [Unreleased], and commit it." >&2
  exit 1
fi
echo "  check  tree and changelog have version $version; release notes are in bin/release-notes.md"
