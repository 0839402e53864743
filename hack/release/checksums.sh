#!/usr/bin/env bash
# Writes the manifest for krew and the checksums of all files of a release.
#
#   hack/release/checksums.sh DIRECTORY VERSION
set -euo pipefail
export LC_ALL=C # sort files in the same order in every locale
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$1"
version=$2

rm -f checksums.txt assay.yaml
sha256sum -- kubectl-assay-*.tar.gz kubectl-assay-*.zip 2>/dev/null >plugin.sums || true
# The template names an archive where its checksum belongs. Platforms that this release has no archive for are left out.
awk -v version="$version" '
  FILENAME == ARGV[1] { sum[$2] = $1; next }
  /^#/ { next }
  { gsub(/VERSION/, version) }
  /^  - selector:/ { entry = $0; next }
  entry != "" {
    if ($1 == "sha256:") {
      missing = !($2 in sum)
      sub($2, sum[$2])
    }
    entry = entry "\n" $0
    if ($1 == "bin:") { if (!missing) print entry; entry = "" }
    next
  }
  { print }' plugin.sums "$here/krew.yaml" >assay.yaml
rm plugin.sums
sha256sum -- * >checksums.txt
echo "  sums   $(wc -l <checksums.txt) files in $1/checksums.txt"
