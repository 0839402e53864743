#!/usr/bin/env bash
# Builds the programs of one tool module into the per-user cache.
#
#   hack/tools/build.sh NAME...     NAME is a folder beside this script
#
# The binaries go to ${ASSAY_CACHE:-~/.cache/assay}/bin, outside the clone, with
# a stamp made of the module folder's content and the Go version: a tool that
# has not changed costs nothing, in any clone.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${ASSAY_CACHE:-$HOME/.cache/assay}
mkdir -p "$cache/bin" "$cache/stamps"

# What a first build takes on two cores, in seconds; told before a long wait.
declare -A cold=(
  [kubernetes]=330 [etcd]=30 [coredns]=95 [helm]=110 [helm-unittest]=60
  [kind]=40 [controller-gen]=30 [kustomize]=40 [golangci-lint]=240 [buf]=120
  [protoc-gen-go]=10 [protoc-gen-go-grpc]=10
)

build() {
  local name=$1 dir=$here/$1 stamp=$cache/stamps/$1 key file flags=()
  [[ -f $dir/go.mod ]] || { echo "build.sh: no tool named $name in hack/tools" >&2; return 2; }

  # Every file, with its name; a folder here holds nothing but what is built.
  key="$(cd "$dir" && sha256sum -- * | sha256sum) $goversion"
  if [[ -f $stamp ]]; then
    local built=()
    mapfile -t built <"$stamp"
    if [[ ${built[0]} == "$key" ]]; then
      local missing=0
      for file in "${built[@]:1}"; do [[ -x $cache/bin/$file ]] || missing=1; done
      [[ $missing == 1 ]] || return 0
    fi
  fi

  # Two builds of the same tool at once would only do the work twice.
  exec {lock}>"$cache/stamps/.$name.lock"
  if ! flock -n "$lock"; then
    echo "  tool   $name: another build is under way, waiting"
    flock "$lock"
    exec {lock}>&-
    build "$name"
    return
  fi

  echo "  tool   $name: building (about ${cold[$name]:-60} s when nothing is cached)"
  local out started=$SECONDS
  out=$(mktemp -d "$cache/.build.XXXXXX")
  [[ -f $dir/ldflags ]] && flags=($(grep -v '^#' "$dir/ldflags"))
  local packages=(tool)
  grep -q '^tool ' "$dir/go.mod" || packages=(.)
  (cd "$dir" && GOFLAGS=-mod=readonly GOWORK=off CGO_ENABLED=0 \
    nice go build -trimpath -buildvcs=false -ldflags "-s -w ${flags[*]:-}" -o "$out/" "${packages[@]}")

  {
    echo "$key"
    for file in "$out"/*; do
      mv -f "$file" "$cache/bin/"
      basename "$file"
    done
  } >"$stamp.new"
  mv "$stamp.new" "$stamp"
  rm -rf "$out"
  exec {lock}>&-
  echo "  tool   $name: built in $((SECONDS - started)) s"
}

goversion=$(go env GOVERSION)
for name in "$@"; do build "$name"; done
