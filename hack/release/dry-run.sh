#!/usr/bin/env bash
# Publishes what make release-build has built to a registry on this machine, signed with a key of its own. Then pulls
# everything back, verifies it and compares it. Changes nothing in bin/release.
#
#   hack/release/dry-run.sh VERSION
#
# IMAGE_PLATFORMS and PLUGIN_PLATFORMS are those that were built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
version=$1
release=$PWD/bin/release
work=$PWD/bin/release-work
dir=$(mktemp -d)
registry_pid=
trap '[[ -z $registry_pid ]] || kill "$registry_pid"; rm -rf "$dir"' EXIT

fail() { echo "dry-run: $*" >&2; exit 1; }
checked() { echo "  check  $*"; }
# quietly runs a command, and prints what it says if it fails.
quietly() { "$@" >"$dir/log" 2>&1 || { cat "$dir/log" >&2; fail "$1 failed"; }; }

crane registry serve --address 127.0.0.1:0 2>"$dir/registry.log" &
registry_pid=$!
until port=$(sed -n 's/.*serving on port \([0-9]*\)$/\1/p' "$dir/registry.log") && [[ -n $port ]]; do
  kill -0 "$registry_pid" || fail "the registry ended: $(cat "$dir/registry.log")"
done
registry=127.0.0.1:$port/assay-dev

# A key instead of the workflow's identity, and no transparency log: nothing leaves this machine.
export COSIGN_PASSWORD=dry-run
(cd "$dir" && quietly cosign generate-key-pair)
export COSIGN_FLAGS="--key $dir/cosign.key --use-signing-config=false --tlog-upload=false"
export HELM_FLAGS=--plain-http SIGNATURE=$dir/checksums.txt.sigstore.json
verify=(--key "$dir/cosign.pub" --insecure-ignore-tlog)
hack/release/publish.sh "$version" "$registry"
# A second attempt finishes what a first one left undone, and changes nothing.
quietly hack/release/publish.sh "$version" "$registry"

# programs IMAGE PLATFORM NAME... compares what an image has for a platform with what was built.
programs() {
  local image=$1 platform=$2 name
  crane export --platform "$platform" "$registry/$image:$version" - | tar -x -C "$dir" usr/share/assay/sbom.cdx.json "${@:3}"
  cmp "$dir/usr/share/assay/sbom.cdx.json" "$release/$image.cdx.json"
  for name in "${@:3}"; do
    chmod u+r "$dir/$name"
    cmp "$dir/$name" "$work/${platform/\//-}/$name"
    go version -m "$dir/$name" | grep -q "GOARCH=${platform#*/}$" || fail "$name of $image isn't for $platform"
    rm -f "$dir/$name"
  done
  crane config --platform "$platform" "$registry/$image:$version" | grep -q '"User":"65532:65532"' || fail "$image doesn't run as 65532"
}

for image in assay assay-load assay-k6; do
  name=$registry/$image:$version
  digest=$(sed -n "s|.*/$image:$version@||p" "$release/images.txt")
  [[ $(crane digest "$name") == "$digest" ]] || fail "$name hasn't the digest of images.txt"
  quietly crane validate --remote "$name"
  quietly crane pull --format oci "$name" "$dir/layout-$image"
  for blob in "$work/images/$image"/blobs/sha256/*; do
    cmp "$blob" "$dir/layout-$image/blobs/sha256/${blob##*/}"
  done
  for platform in $IMAGE_PLATFORMS; do
    case $image in
    assay) programs assay "$platform" manager agent pin ;;
    assay-load | assay-k6) programs "$image" "$platform" "$image" ;;
    esac
  done
  quietly cosign verify "${verify[@]}" "$registry/$image@$digest"
  quietly cosign verify-attestation "${verify[@]}" --type cyclonedx "$registry/$image@$digest"
  checked "$image: pulled back for $IMAGE_PLATFORMS, equal, signed, with its bill of materials"
done

quietly helm pull --plain-http "oci://$registry/charts/assay" --version "$version" --destination "$dir"
cmp "$dir/assay-$version.tgz" "$release/assay-$version.tgz"
quietly cosign verify "${verify[@]}" "$registry/charts/assay@$(crane digest "$registry/charts/assay:$version")"
[[ $(helm show chart "$dir/assay-$version.tgz" | awk '/^(version|appVersion):/ {print $2}' | tr -d '"' | sort -u) == "$version" ]] ||
  fail "the chart has another version"
# images prints the images that manifests name, and passes on as arguments of the manager.
images() { grep -oE 'ghcr\.io/assay-dev/[a-z-]+[:@][^" ]+' "$1" | sort -u; }
helm template assay "$dir/assay-$version.tgz" --namespace assay-system >"$dir/template.yaml"
for manifests in "$dir/template.yaml" "$release/install.yaml"; do
  [[ $(images "$manifests") == "$(sed "s/:$version@/@/" "$release/images.txt" | sort)" ]] || fail "$manifests names other images: $(images "$manifests")"
done
checked "chart and install.yaml: version $version, and the images of this release"

# The archives, which krew finds by its manifest.
for platform in $PLUGIN_PLATFORMS; do
  name=${platform/\//-}
  rm -rf "$dir/plugin" && mkdir "$dir/plugin"
  case $platform in
  windows/*) archive=kubectl-assay-$name.zip program=kubectl-assay.exe; python3 -m zipfile -e "$release/$archive" "$dir/plugin" ;;
  *) archive=kubectl-assay-$name.tar.gz program=kubectl-assay; tar -xzf "$release/$archive" -C "$dir/plugin" ;;
  esac
  cmp "$dir/plugin/$program" "$work/$name/$program"
  [[ -s $dir/plugin/LICENSE && -s $dir/plugin/third-party/sbom.cdx.json ]] || fail "$archive has no licenses"
  go version -m "$dir/plugin/$program" | grep -q "GOOS=${platform%/*}$" || fail "$archive isn't for $platform"
  uri=https://github.com/assay-dev/assay/releases/download/v$version/$archive
  grep -A1 "uri: $uri\$" "$release/assay.yaml" | grep -q "sha256: $(sha256sum <"$release/$archive" | cut -d' ' -f1)\$" ||
    fail "the manifest for krew has another checksum of $archive"
  if [[ $platform == "$(go env GOOS)/$(go env GOARCH)" ]]; then
    [[ $("$dir/plugin/$program" version) == *"v$version"* ]] || fail "$archive has another version"
  fi
done
checked "plugin: archives for $PLUGIN_PLATFORMS, with the checksums in the manifest for krew"

quietly cosign verify-blob "${verify[@]}" --bundle "$SIGNATURE" "$release/checksums.txt"
sed 's/^./0/' "$release/checksums.txt" >"$dir/forged.txt"
if cosign verify-blob "${verify[@]}" --bundle "$SIGNATURE" "$dir/forged.txt" >"$dir/log" 2>&1; then
  fail "the signature is valid for another file"
fi
checked "checksums.txt: signed, and all files have these checksums"
