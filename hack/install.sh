#!/usr/bin/env bash
# Installs or upgrades the operator by Helm on the cluster that KUBECONFIG
# names, from images that are loaded there. Usage: install.sh IMAGE LOAD_IMAGE
#
# The tags of locally built images don't change with what is in them: the
# images' digests stand in an annotation, so that the manager is restarted when
# it was built anew, and only then.
set -euo pipefail
cd "$(dirname "$0")/.."

digest=$(sha256sum bin/images/assay.tar bin/images/assay-load.tar | sha256sum | cut -c1-16)

helm upgrade --install assay charts/assay \
	--namespace assay-system --create-namespace --wait --timeout 3m \
	--set "image.assay.repository=${1%:*},image.assay.tag=${1##*:}" \
	--set "image.load.repository=${2%:*},image.load.tag=${2##*:}" \
	--set-string "podAnnotations.assay\.dev/images=$digest" >/dev/null
kubectl --namespace assay-system rollout status deployment/assay-manager --timeout 2m
