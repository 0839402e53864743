#!/usr/bin/env bash
# Pushes the images and the chart that make release-build has built, attaches the bill of materials to each image, and
# signs all of it and checksums.txt. May be repeated: what is there already must be the same.
#
#   hack/release/publish.sh VERSION REGISTRY
#
# Credentials are those of docker login. COSIGN_FLAGS says how to sign; without it, with the identity of the workflow
# that runs this. SIGNATURE is the file for the signature of checksums.txt. HELM_FLAGS and COSIGN_REGISTRY_FLAGS are for
# a registry without TLS.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
version=$1
registry=$2
release=bin/release
work=bin/release-work
signature=${SIGNATURE:-$release/checksums.txt.sigstore.json}
read -ra sign <<<"--yes ${COSIGN_FLAGS:-}"
read -ra http <<<"${HELM_FLAGS:-}"

(cd $release && sha256sum --check --quiet checksums.txt)

# A version that is published is never replaced. A registry that doesn't answer may have it.
unpublished() {
  local there
  if ! there=$(crane digest "$1" 2>&1); then
    if [[ $there =~ MANIFEST_UNKNOWN|NAME_UNKNOWN|"404 Not Found" ]]; then return 0; fi
    echo "publish: whether $1 is published already is unknown: $there" >&2
    return 1
  fi
  if [[ $there == "$2" ]]; then return 0; fi
  echo "publish: $1 is published already as $there, and this is $2. Release another version." >&2
  return 1
}

digest_of() { sed -n "s|.*/$1:$version@||p" $release/images.txt; }

for image in assay assay-load assay-k6; do
  unpublished "$registry/$image:$version" "$(digest_of $image)"
done
for image in assay assay-load assay-k6; do
  digest=$(digest_of $image)
  bin/tools/assay-image push $work/images/$image "$registry/$image:$version" >/dev/null
  cosign sign "${sign[@]}" --recursive "$registry/$image@$digest" >/dev/null
  cosign attest "${sign[@]}" --type cyclonedx --predicate $release/$image.cdx.json "$registry/$image@$digest" >/dev/null
  echo "  push   $registry/$image:$version@$digest"
done

# helm prints the digest of the manifest, whose content depends on the chart and its date.
digest=$(helm push "${http[@]}" "$release/assay-$version.tgz" "oci://$registry/charts" 2>&1 | tee /dev/stderr | awk '$1 == "Digest:" {print $2}')
cosign sign "${sign[@]}" "$registry/charts/assay@$digest" >/dev/null
echo "  push   $registry/charts/assay:$version@$digest"

cosign sign-blob "${sign[@]}" --bundle "$signature" $release/checksums.txt >/dev/null
echo "  sign   $signature"
