#!/usr/bin/env bash
# Builds the programs of one tool module into the per-user cache.
#
#   hack/tools/build.sh NAME...     NAME is a folder beside this script
#
# The binaries go to ${ASSAY_CACHE:-~/.cache/assay}/bin, outside the clone, with
# a stamp made of what they are built from and the Go version: a tool that has
# not changed costs nothing, in any clone.
set -euo pipefail
export LC_ALL=C # one order of files, whatever the language

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${ASSAY_CACHE:-$HOME/.cache/assay}
mkdir -p "$cache/bin" "$cache/stamps"

# What a first build takes on two cores, in seconds; told before a long wait.
declare -A cold=(
  [kubernetes]=330 [etcd]=30 [coredns]=95 [helm]=110 [helm-unittest]=60
  [kind]=40 [controller-gen]=30 [kustomize]=40 [golangci-lint]=240 [buf]=120
  [k6]=60 [protoc-gen-go]=10 [protoc-gen-go-grpc]=10 [cert-manager]=120
)

# The key of what a tool is built from. A file of any other kind doesn't count.
key() {
  local files=() file
  cd "$here/$1"
  for file in go.mod go.sum ldflags *.go; do
    [[ ! -f $file ]] || files+=("$file")
  done
  echo "$(sha256sum -- "${files[@]}" | sha256sum) $goversion"
}

# built KEY NAME says whether all programs of the tool are there, made from
# what the key stands for.
built() {
  local lines=() file
  [[ -f $cache/stamps/$2 ]] || return 1
  mapfile -t lines <"$cache/stamps/$2"
  [[ ${#lines[@]} -gt 1 && ${lines[0]} == "$1" ]] || return 1
  for file in "${lines[@]:1}"; do
    [[ -x $cache/bin/$file ]] || return 1
  done
}

build() {
  local name=$1 dir=$here/$1 stamp=$cache/stamps/$1 key file flags=()
  [[ -f $dir/go.mod ]] || { echo "build.sh: no tool named $name in hack/tools" >&2; return 2; }
  key=$(key "$name")
  ! built "$key" "$name" || return 0

  # Two builds of the same tool at once would only do the work twice.
  exec {lock}>"$cache/stamps/.$name.lock"
  if ! flock -n "$lock"; then
    echo "  tool   $name: another build is under way, waiting"
    flock "$lock"
  fi
  if built "$key" "$name"; then
    exec {lock}>&-
    return
  fi

  echo "  tool   $name: building (about ${cold[$name]:-60} s when nothing is cached)"
  local started=$SECONDS
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

# A build that fails or is interrupted leaves nothing in the cache.
out=
trap '[[ -z $out ]] || rm -rf "$out"' EXIT

"$here/../check-go.sh"
goversion=$(go env GOVERSION)
for name in "$@"; do build "$name"; done
