#!/usr/bin/env bash
# Builds the programs of one tool module into the per-user cache.
#
#   hack/tools/build.sh NAME...     NAME is a directory next to this script
#
# The binaries go to ${ASSAY_CACHE:-~/.cache/assay}/bin, which all clones share. A
# stamp with the digest of the sources and the Go version avoids rebuilding tools
# that have not changed.
set -euo pipefail
export LC_ALL=C # sort files in the same order in every locale

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${ASSAY_CACHE:-$HOME/.cache/assay}
mkdir -p "$cache/bin" "$cache/stamps"

# Seconds that a build takes on two cores when nothing is cached.
declare -A cold=(
  [kubernetes]=330 [kubeadm]=60 [etcd]=30 [coredns]=95 [helm]=110 [helm-unittest]=60
  [kind]=40 [controller-gen]=30 [kubebuilder]=60 [kustomize]=40 [golangci-lint]=240 [buf]=120
  [actionlint]=20 [k6]=60 [crane]=30 [cosign]=120 [protoc-gen-go]=10 [protoc-gen-go-grpc]=10 [cert-manager]=120
)

# key prints the digest of a tool's sources. Other kinds of files don't matter.
key() {
  local files=() file
  cd "$here/$1"
  for file in go.mod go.sum ldflags *.go; do
    [[ ! -f $file ]] || files+=("$file")
  done
  echo "$(sha256sum -- "${files[@]}" | sha256sum) $goversion"
}

# built KEY NAME succeeds if all programs of the tool exist, built from the sources
# with that key.
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
  [[ -f $dir/go.mod ]] || { echo "build.sh: tool $name not found in hack/tools" >&2; return 2; }
  key=$(key "$name")
  ! built "$key" "$name" || return 0

  # Don't build the same tool twice at the same time.
  exec {lock}>"$cache/stamps/.$name.lock"
  if ! flock -n "$lock"; then
    echo "  tool   $name: waiting for another build"
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

# Remove the output of a build that fails or is interrupted.
out=
trap '[[ -z $out ]] || rm -rf "$out"' EXIT

"$here/../check-go.sh"
goversion=$(go env GOVERSION)
for name in "$@"; do build "$name"; done
