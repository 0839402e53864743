#!/usr/bin/env bash
# Builds the images of the Dockerfile with podman, and fails unless they hold the same as the images that make
# builds: the same files with the same bytes, modes and owners, and the same configuration.
#
#   hack/dockerfile-test.sh NAME=ARCHIVE...     NAME is a target of the Dockerfile, ARCHIVE make's image
#
# The Go toolchain and the modules of this machine are used in place of the image from Docker's registry.
# The images are written to bin/images/dockerfile, with the tags that make's have, and can be loaded into a cluster.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C

cache=${ASSAY_CACHE:-$HOME/.cache/assay}
base=localhost/assay-test/go:dev
output=bin/images/dockerfile
work=$(mktemp -d "$cache/.dockerfile.XXXXXX")
missing=()
for dir in /run/containers /var/lib/containers; do
  [[ -e $dir ]] || missing+=("$dir")
done
cleanup() {
  podman image unmount --all >/dev/null || true
  # The storage is mounted on itself.
  ! mountpoint -q "$work/storage/overlay" || umount "$work/storage/overlay"
  rm -rf "$work" ${missing[@]+"${missing[@]}"}
}
trap cleanup EXIT

# Podman keeps everything in directories of this test, but for two under fixed paths and for what the steps of the
# Dockerfile cache.
mkdir -p "$cache/dockerfile" "$output"
cat >"$work/storage.conf" <<END
[storage]
driver = "overlay"
graphroot = "$work/storage"
runroot = "$work/run"
END
cat >"$work/containers.conf" <<END
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
lock_type = "file"
runtime = "runc"
tmp_dir = "$work/libpod"
[network]
network_config_dir = "$work/networks"
END
export CONTAINERS_CONF=$work/containers.conf CONTAINERS_STORAGE_CONF=$work/storage.conf TMPDIR=$cache/dockerfile

assay-image --tag "$base" --output "$work/go.tar" --layer "$(hack/image/rootfs.sh ca-certificates)=/" \
  --layer "$(go env GOROOT)=/usr/local/go" --env PATH=/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  --env GOPATH=/go --env GOTOOLCHAIN=local --env GOPROXY=file:///proxy
podman load --quiet --input "$work/go.tar" >/dev/null
rm "$work/go.tar"

# contents lists the files of an image.
contents() {
  local root
  root=$(podman image mount "$1")
  (cd "$root" && find . -printf '%y %m %U:%G %p %l\n' | sort && find . -type f -print0 | sort -z | xargs -0 sha256sum)
  podman image unmount "$1" >/dev/null
}

# configuration prints the configuration of an image, without the label that names podman's version.
configuration() {
  podman image inspect --format '{{.Os}}/{{.Architecture}}
user {{.Config.User}}
entrypoint {{.Config.Entrypoint}}
command {{.Config.Cmd}}
ports {{.Config.ExposedPorts}}
{{range $name, $value := .Config.Labels}}{{$name}}={{$value}}
{{end}}' "$1" | grep -v '^io.buildah.version='
}

failures=0
for pair in "$@"; do
  target=${pair%%=*} archive=${pair#*=} image=localhost/assay-test/dockerfile-${pair%%=*}:dev
  started=$SECONDS
  podman build --quiet --isolation chroot --network host --pull=never --build-arg "GO_IMAGE=$base" --volume "$(go env GOMODCACHE)/cache/download:/proxy:ro" \
    --target "$target" --tag "$image" . >/dev/null
  echo "  podman target $target: built in $((SECONDS - started)) s"
  made=$(podman load --quiet --input "$archive" | sed -n 's/^Loaded image: //p')
  for what in contents configuration; do
    if diff --unified=0 --label "make: $made" --label "Dockerfile: $target" <($what "$made") <($what "$image"); then
      echo "ok    $target: equal $what"
    else
      echo "FAIL  $target: $what differ"
      failures=$((failures + 1))
    fi
  done
  podman tag "$image" "$made"
  rm -f "$output/$target.tar"
  podman save --quiet --format docker-archive --output "$output/$target.tar" "$made"
done
exit $((failures > 0))
