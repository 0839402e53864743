#!/usr/bin/env bash
# Makes a staged chart and kustomization name the images by their digests, so that nobody can put another image
# under their tags.
#
#   hack/release/pin.sh IMAGES STAGE     IMAGES has lines such as ghcr.io/assay-dev/assay:0.2.0@sha256:…
set -euo pipefail
while IFS=@ read -r name digest; do
  image=${name##*/} image=${image%%:*}
  key=${image#assay-} # assay, load and k6, of the chart's value image
  sed -i "/^image:/,/^[^ ]/ {/^  $key:/,/^    digest:/ s|^    digest: .*|    digest: $digest|}" "$2/charts/assay/values.yaml"
  sed -i "/^- name: $image\$/,/newTag:/ s|^  newTag: .*|  digest: $digest|" "$2/config/manager/kustomization.yaml"
done <"$1"
