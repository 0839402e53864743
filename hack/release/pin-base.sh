#!/usr/bin/env bash
# Pins the base image of the Dockerfile to the digest that its tag has in the registry now. Needs crane and the registry.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tag=$(sed -n 's/^ARG GO_IMAGE=\([^@]*\).*/\1/p' Dockerfile)
digest=$(crane digest "$tag")
sed -i "s|^ARG GO_IMAGE=.*|ARG GO_IMAGE=$tag@$digest|" Dockerfile
echo "  pin    $tag@$digest"
