#!/usr/bin/env bash
# Installs or upgrades the operator with Helm on the cluster of KUBECONFIG. The
# images must be loaded there.
#
#   hack/install.sh IMAGE LOAD_IMAGE K6_IMAGE [HELM_ARG...]
#
# The tags of local images are constant. An annotation with the digest of the
# manager's image restarts the manager if, and only if, the image has changed.
set -euo pipefail
cd "$(dirname "$0")/.."

digest=$(sha256sum bin/images/assay.tar | cut -c1-16)

helm upgrade --install assay charts/assay \
  --namespace assay-system --create-namespace --wait --timeout 3m \
  --set "image.assay.repository=${1%:*},image.assay.tag=${1##*:}" \
  --set "image.load.repository=${2%:*},image.load.tag=${2##*:}" \
  --set "image.k6.repository=${3%:*},image.k6.tag=${3##*:}" \
  --set-string "podAnnotations.assay\.dev/images=$digest" "${@:4}" >/dev/null
kubectl --namespace assay-system rollout status deployment/assay-manager --timeout 2m
