#!/usr/bin/env bash
# Installs cert-manager on the cluster of KUBECONFIG and waits until its webhook is
# ready. The chart and the CustomResourceDefinitions come from the same module as
# the image.
#
#   hack/cert-manager/install.sh ARCHIVE     the archive of the loaded image
#
# An annotation of the namespace records what is installed. If that is current, the
# script only checks the webhook.
set -euo pipefail
cd "$(dirname "$0")"
namespace=cert-manager

# ready succeeds if the webhook accepts an Issuer: the kind is served, and the API
# server trusts the webhook's certificate.
ready() {
  kubectl create --dry-run=server --filename - >/dev/null <<-YAML
	apiVersion: cert-manager.io/v1
	kind: Issuer
	metadata: {generateName: ready-, namespace: $namespace}
	spec: {selfSigned: {}}
	YAML
}

state=$(cat "$1" values.yaml install.sh ../tools/cert-manager/go.mod | sha256sum | cut -c1-16)
installed=$(kubectl get namespace $namespace --ignore-not-found \
  --output 'jsonpath={.metadata.annotations.assay\.dev/installed}')
if [[ $installed == "$state" ]] && ready 2>/dev/null; then
  echo "  cert-manager: already installed"
  exit
fi

kubectl apply --server-side --force-conflicts --field-manager assay-install --filename - >/dev/null <<YAML
apiVersion: v1
kind: Namespace
metadata:
  name: $namespace
  labels:
    pod-security.kubernetes.io/enforce: restricted
YAML

# The module's directory. Download it if only the built program was cached.
module=$(cd ../tools/cert-manager && GOWORK=off go mod download -json github.com/cert-manager/cert-manager |
  sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
image=$(sha256sum "$1" | cut -c1-16)
helm upgrade --install cert-manager "$module/deploy/charts/cert-manager" \
  --namespace $namespace --values values.yaml \
  --set-string "podAnnotations.assay\.dev/image=$image" \
  --set-string "webhook.podAnnotations.assay\.dev/image=$image" \
  --set-string "cainjector.podAnnotations.assay\.dev/image=$image" \
  --wait --timeout 3m >/dev/null

deadline=$((SECONDS + 60))
until message=$(ready 2>&1); do
  if ((SECONDS > deadline)); then
    echo "cert-manager/install.sh: the webhook is not ready: $message" >&2
    echo "See kubectl -n $namespace get pods; kubectl -n $namespace logs deployment/cert-manager-webhook" >&2
    exit 1
  fi
  sleep 0.2
done
kubectl annotate --overwrite namespace $namespace "assay.dev/installed=$state" >/dev/null
echo "  cert-manager: installed"
