#!/usr/bin/env bash
# Builds an image with a program of a Debian package: a load generator for spec.clients.tool, or a server.
#
#   hack/image/debian/build.sh PACKAGE TAG ARCHIVE
set -euo pipefail

package=$1 tag=$2 archive=$3
here=$(cd "$(dirname "$0")/.." && pwd)
cache=${ASSAY_CACHE:-$HOME/.cache/assay}
rootfs=$("$here/rootfs.sh" "$package")

"$cache/bin/assay-image" --tag "$tag" --output "$archive" \
  --layer "$rootfs=/" \
  --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
