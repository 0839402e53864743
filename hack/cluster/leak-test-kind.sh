#!/usr/bin/env bash
# Starts and removes the cluster that kind runs on podman in several ways, with one node and with two. Fails
# if that changed the machine, as leak-test.sh does for the native cluster. Nothing else may change the machine
# in the meantime.
#
#   hack/cluster/leak-test-kind.sh               fails if there is a cluster
#   hack/cluster/leak-test-kind.sh --self-check  only checks that a leak of each kind is
#                                                detected; works with a cluster
set -euo pipefail
export LC_ALL=C

state=/var/lib/assay-cluster-kind run=/run/assay-cluster-kind
kubeconfig=$(mktemp -d)/kubeconfig
source "$(dirname "${BASH_SOURCE[0]}")/leaks.sh"
trap 'unplant || true; rm -rf "$work" "${kubeconfig%/*}"' EXIT

engine=("$cluster" --engine kind --kubeconfig-copy "$kubeconfig")
podman() { CONTAINERS_CONF=$state/containers.conf CONTAINERS_STORAGE_CONF=$state/storage.conf command podman "$@"; }

# If the cluster can't be started or removed, keep it for inspection.
up() {
  "${engine[@]}" up --nodes "${1:-1}" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}

down() {
  "${engine[@]}" down >"$work/log" 2>&1 || { cat "$work/log"; fail; }
}

begin "$@"

up
with_pods
down
compare "up, pods, down"

for made in containers.conf storage networks/assay-cluster-kind.json storage/volumes; do
  "${engine[@]}" up >"$work/log" 2>&1 &
  kill_when "$state/$made" $!
  down
  compare "up killed when it had made $made, down"
done

for delay in 5 15; do
  "${engine[@]}" up >"$work/log" 2>&1 &
  kill_when "$state/storage/volumes" $! "$delay"
  down
  compare "up killed $delay s after it had made a volume, down"
done

"${engine[@]}" up >"$work/log" 2>&1 &
kill_when "$state/storage/volumes" $! 8
up
down
compare "up killed 8 s after it had made a volume, up, down"

up
with_pods
"${engine[@]}" down >"$work/log" 2>&1 &
kill_after 1 $!
down
compare "down killed, down again"

up
with_pods
podman kill assay-control-plane >"$work/log" 2>&1
up
with_pods
down
compare "node killed with pods running, up, down"

up 2
with_pods
down
compare "two nodes, pods, down"

exit $((failures > 0))
