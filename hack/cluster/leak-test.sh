#!/usr/bin/env bash
# Brings the native cluster up and down in several ways, and fails when the
# machine is not afterwards what it was before: processes, mounts, interfaces,
# routes, netfilter tables, cgroups, network namespaces, kernel settings, files.
#
#   hack/cluster/leak-test.sh        no cluster may be there when it starts
set -euo pipefail

cluster=${ASSAY_CACHE:-$HOME/.cache/assay}/bin/assay-cluster
state=/var/lib/assay-cluster run=/run/assay-cluster
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

snapshot() {
  echo "== processes"
  # Those of the cluster, by cgroup or command line; others' come and go.
  local proc
  for proc in /proc/[0-9]*; do
    if grep -qs "/assay-cluster" "$proc/cgroup" ||
      { tr '\0' ' ' <"$proc/cmdline" | grep -qE "($state|$run)[/ ]|assay-cluster supervise"; } 2>/dev/null; then
      echo "${proc#/proc/} $(tr '\0' ' ' <"$proc/cmdline" | cut -c1-120)"
    fi
  done
  echo "== mounts"; awk '{print $5, $9, $10}' /proc/self/mountinfo
  echo "== interfaces"; ip -brief link | awk '{print $1}'
  echo "== addresses"; ip -brief address | awk '{$2 = ""; print}'
  echo "== routes"; ip route show table all; ip -6 route show table all | sed 's/ expires [0-9a-z]*//'
  echo "== rules"; ip rule
  echo "== netfilter"; nft list ruleset
  echo "== legacy iptables"; cat /proc/net/ip_tables_names /proc/net/ip6_tables_names 2>/dev/null || true
  echo "== cgroups"; find /sys/fs/cgroup -type d \( -name 'assay-cluster*' -o -name 'kubepods*' \)
  echo "== network namespaces"; ls /run/netns 2>/dev/null || true
  echo "== folders"; ls -d /run/* /var/lib/* /var/log/* /opt/* /etc/cni /var/lib/cni/* /run/containerd/* 2>/dev/null || true
  echo "== settings"
  local setting
  for setting in net.ipv4.ip_forward net.ipv4.conf.all.route_localnet net.ipv4.conf.all.forwarding \
    net.ipv6.conf.all.forwarding net.bridge.bridge-nf-call-iptables vm.overcommit_memory vm.panic_on_oom \
    kernel.panic kernel.panic_on_oops kernel.keys.root_maxkeys kernel.keys.root_maxbytes \
    net.netfilter.nf_conntrack_max net.netfilter.nf_conntrack_tcp_timeout_established; do
    echo "$setting=$(sysctl -n "$setting" 2>/dev/null || true)"
  done
}

failures=0
compare() {
  snapshot >"$work/after"
  if diff -u --label before --label "after $1" "$work/before" "$work/after"; then
    echo "ok    $1"
  else
    echo "FAIL  $1: left behind what is marked + above"
    failures=$((failures + 1))
  fi
}

if [[ -e $state || -e $run ]]; then
  echo "leak-test: a cluster is there; take it down first" >&2
  exit 1
fi
snapshot >"$work/before"

"$cluster" --engine native up >"$work/log" || { cat "$work/log"; exit 1; }
"$cluster" --engine native down >"$work/log" || { cat "$work/log"; failures=$((failures + 1)); }
compare "up, down"

for delay in 0.2 0.6 1 2 3 4.5; do
  "$cluster" --engine native up >"$work/log" 2>&1 &
  sleep "$delay"
  kill -KILL $! 2>/dev/null || true
  wait $! 2>/dev/null || true
  "$cluster" --engine native down >"$work/log" 2>&1 || { cat "$work/log"; failures=$((failures + 1)); }
  compare "up killed after $delay s, down"
done

"$cluster" --engine native up >"$work/log" || { cat "$work/log"; exit 1; }
"$cluster" --engine native down >"$work/log" 2>&1 &
sleep 0.7
kill -KILL $! 2>/dev/null || true
wait $! 2>/dev/null || true
"$cluster" --engine native down >"$work/log" || { cat "$work/log"; failures=$((failures + 1)); }
compare "down killed, down again"

"$cluster" --engine native up >"$work/log" || { cat "$work/log"; exit 1; }
kill -KILL "$(cut -d' ' -f1 "$run/pid/supervisor")"
kill -KILL "$(cut -d' ' -f1 "$run/pid/containerd")"
"$cluster" --engine native down >"$work/log" || { cat "$work/log"; failures=$((failures + 1)); }
compare "containerd killed with pods running, down"

exit $((failures > 0))
