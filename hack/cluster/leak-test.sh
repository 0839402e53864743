#!/usr/bin/env bash
# Starts and removes the native cluster in several ways, with one node and with two.
# Fails if that changed the machine: its processes, mounts, interfaces, addresses, routes, netfilter tables,
# cgroups, network namespaces, files or kernel settings. Nothing else may change
# the machine in the meantime.
#
#   hack/cluster/leak-test.sh               fails if there is a cluster
#   hack/cluster/leak-test.sh --self-check  only checks that a leak of each kind is
#                                           detected; works with a cluster
set -euo pipefail
export LC_ALL=C

state=/var/lib/assay-cluster run=/run/assay-cluster
kubeconfig=$state/kubeconfig
source "$(dirname "${BASH_SOURCE[0]}")/leaks.sh"

# If the cluster can't be started or removed, keep it for inspection.
up() {
  "$cluster" --engine native up --nodes "${1:-1}" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}

down() {
  "$cluster" --engine native down >"$work/log" 2>&1 || { cat "$work/log"; fail; }
}

begin "$@"

up
with_pods
down
compare "up, pods, down"

for delay in 0.2 0.6 1 2 3 4.5; do
  "$cluster" --engine native up >"$work/log" 2>&1 &
  kill_after "$delay" $!
  down
  compare "up killed after $delay s, down"
done

up
with_pods
"$cluster" --engine native down >"$work/log" 2>&1 &
kill_after 0.7 $!
down
compare "down killed, down again"

up
with_pods
kill -KILL "$(cut -d' ' -f1 "$run/pid/supervisor")" "$(cut -d' ' -f1 "$run/pid/containerd")"
down
compare "supervisor and containerd killed with pods running, down"

up
"$cluster" --engine native stop kubelet
down
compare "kubelet stopped on purpose, down"

up 2
with_pods
"$cluster" link --rate 10mbit --loss 1
down
compare "two nodes, pods, link limited, down"

for made in node-2/pid network-2 node-2/pid/supervisor node-2/pid/containerd node-2/pid/kubelet; do
  "$cluster" --engine native up --nodes 2 >"$work/log" 2>&1 &
  kill_when "$run/$made" $!
  down
  compare "two nodes, up killed when it had made $made, down"
done

up 2
with_pods
"$cluster" --engine native down >"$work/log" 2>&1 &
kill_after 0.4 $!
down
compare "two nodes, down killed, down again"

up 2
with_pods
kill -KILL "$(cut -d' ' -f1 "$run/node-2/pid/supervisor")" "$(cut -d' ' -f1 "$run/node-2/pid/containerd")"
down
compare "two nodes, supervisor and containerd of the second killed with pods running, down"

up 2
with_pods
"$cluster" stop assay-2
down
compare "two nodes, the second stopped with pods running, down"

up 2
with_pods
"$cluster" stop assay-2
"$cluster" start assay-2 >"$work/log" 2>&1 || { cat "$work/log"; fail; }
down
compare "two nodes, the second stopped and started with pods running, down"

exit $((failures > 0))
