#!/usr/bin/env bash
# Builds a release of the last commit twice, in clones in different directories, with different umasks, time zones and
# locales, at different times, and fails if a byte differs.
#
#   hack/release/reproduce.sh
#
# IMAGE_PLATFORMS and PLUGIN_PLATFORMS select platforms.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# build CLONE writes the digests of all files of a release, and of the layouts of its images.
build() {
  git clone --quiet --shared . "$dir/$1"
  make --no-print-directory -C "$dir/$1" release-build
  (cd "$dir/$1/bin" && find release release-work/images -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum) >"$dir/$1.txt"
}
(umask 022 && TZ=UTC LC_ALL=C build first)
(umask 077 && TZ=Pacific/Chatham LC_ALL=C.UTF-8 build a-second-one)
if ! diff "$dir/first.txt" "$dir/a-second-one.txt"; then
  echo "reproduce: the files above differ between two builds of the same commit" >&2
  exit 1
fi
echo "  check  $(wc -l <"$dir/first.txt") files are the same in both builds"
