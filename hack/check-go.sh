#!/usr/bin/env bash
# Fails with a message unless the Go toolchain is recent enough. Everything but
# `make deps` needs it. Debian's is too old.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

need=$(awk '$1 == "go" {print $2}' go.mod)
have=none
if command -v go >/dev/null; then
  # Go 1.21 and newer may report a newer toolchain that they download.
  have=$(go env GOVERSION)
  have=${have#go}
fi
if [[ $have == none || $(printf '%s\n' "$need" "$have" | sort -V | head -1) != "$need" ]]; then
  echo "Go $need or newer is required. Found in PATH: $have. See https://go.dev/doc/install" >&2
  exit 1
fi
