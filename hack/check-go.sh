#!/usr/bin/env bash
# Says what is wanted when there is no Go toolchain, or one that is too old.
# Everything but `make deps` needs it, and Debian's own is too old.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

need=$(awk '$1 == "go" {print $2}' go.mod)
have=none
if command -v go >/dev/null; then
  # Go 1.21 and newer may answer with a newer toolchain that they fetch.
  have=$(go env GOVERSION)
  have=${have#go}
fi
if [[ $have == none || $(printf '%s\n' "$need" "$have" | sort -V | head -1) != "$need" ]]; then
  echo "Go $need or newer is needed, in PATH is: $have. See https://go.dev/doc/install" >&2
  exit 1
fi
