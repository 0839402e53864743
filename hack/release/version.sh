#!/usr/bin/env bash
# Prints the version of the tree: the image tag of config/manager.
#
#   hack/release/version.sh [ROOT]     ROOT is the tree; by default this one
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/../..}"
awk '$1 == "newTag:" { print $2; exit }' config/manager/kustomization.yaml | tr -d '"'
