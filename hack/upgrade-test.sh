#!/usr/bin/env bash
# Runs this tree's manager with the agent and the client of an earlier commit, as
# after an upgrade of the operator during a run. Fails unless the run ends with
# the session protocol's mismatch, soon, and both pods' logs have it, too. Puts
# the operator back afterwards.
#
#   hack/upgrade-test.sh IMAGE LOAD_IMAGE SERVER_IMAGE
#
# KUBECONFIG names the cluster. The images must be loaded there.
set -euo pipefail
cd "$(dirname "$0")/.."

# The last commit before the protocol had a version.
commit=58229df3761a333f8aeffb36779ad57a83a4ac0a
want="session protocol mismatch: the pod speaks version 0"
namespace=assay-upgrade-test old=localhost/assay-test/assay:${commit::7} old_load=localhost/assay-test/assay-load:${commit::7}

if ! git cat-file -e "$commit^{commit}" 2>/dev/null; then
  echo "test-upgrade: commit $commit isn't in this clone's history. Fetch all of it: git fetch --unshallow" >&2
  exit 2
fi

work=$(mktemp -d)
cleanup() {
  rm -rf "$work"
  kubectl delete namespace "$namespace" --ignore-not-found --wait=false >/dev/null
  hack/install.sh "$1" "$2" >/dev/null
}
trap 'cleanup "$1" "$2"' EXIT

echo "== Build the agent and the client of ${commit::7}"
git archive "$commit" | tar -x -C "$work"
build() { CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w" -o "$work/" "$1"; }
(cd "$work" && build ./cmd/agent)
(cd "$work/load" && build ./cmd/assay-load)
assay-image --tag "$old" --output "$work/assay.tar" --user 65532:65532 \
  --layer "bin/image/manager=/manager,$work/agent=/agent" --entrypoint /manager
assay-image --tag "$old_load" --output "$work/assay-load.tar" --user 65532:65532 \
  --layer "$work/assay-load=/assay-load" --entrypoint /assay-load
assay-cluster --engine "${CLUSTER_ENGINE:-auto}" load "$work/assay.tar" "$work/assay-load.tar"

echo "== Install this tree's manager with them"
hack/install.sh "$old" "$old_load"
kubectl create namespace "$namespace"
kubectl apply -f - <<YAML
apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: old-pods, namespace: $namespace}
spec:
  podRetention: Always
  target:
    image: $3
    resources: {cpu: 100m, memory: 128Mi}
    server: {generic: {}}
  clients: {replicas: 1, resources: {cpu: 100m, memory: 128Mi}}
  load:
    requests: [{path: /}]
    closed: {connections: 1, requestCount: 100}
YAML
kubectl wait benchmarkrun/old-pods --namespace "$namespace" --for=condition=Finished --timeout=2m

succeeded() { kubectl get benchmarkrun/old-pods --namespace "$namespace" -o jsonpath="{.status.conditions[?(@.type==\"Succeeded\")].$1}"; }
echo "Succeeded=$(succeeded status) $(succeeded reason): $(succeeded message)"
if [[ $(succeeded status) != False || $(succeeded message) != *"$want"* ]]; then
  echo "test-upgrade: want a message with: $want" >&2
  exit 1
fi
for role in client target; do
  for _ in {1..60}; do
    log=$(kubectl logs --namespace "$namespace" --selector "assay.dev/run=old-pods,assay.dev/role=$role" --all-containers --tail=-1)
    [[ $log != *"$want"* ]] || continue 2
    sleep 1
  done
  echo "test-upgrade: the log of the $role's pod hasn't: $want"$'\n'"$log" >&2
  exit 1
done
echo "== The run ended with the mismatch, and both pods logged it"
