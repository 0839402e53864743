#!/usr/bin/env bash
# Installs the Debian packages that something here needs.
#
#   hack/install-deps.sh [cluster]  what the local cluster and the test images need
#   hack/install-deps.sh units      what unit tests compare with
#   hack/install-deps.sh bench      what `make bench-load` compares
#
# Does nothing when what they hold is there. Starts no service: the cluster runs
# a containerd of its own, the benchmark an nginx of its own. A Go toolchain must
# be there already; see hack/check-go.sh.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin # where a user's own may not lead

# Each package with what is wanted of it: a program, or a file by its path.
# Somebody else's containerd is as good, so it isn't the package that is asked
# for.
cluster=(
  # What runs pods.
  "containerd containerd ctr"
  "runc runc"
  "containernetworking-plugins /usr/lib/cni/ptp /usr/lib/cni/host-local"
  # What the kubelet and kube-proxy call.
  "nftables nft"
  "iptables iptables"
  "conntrack conntrack"
  "ethtool ethtool"
  "socat socat"
  # The file systems and the servers of the test images.
  "debootstrap debootstrap"
  "maven mvn"
  "default-jre-headless java"
  # What the scripts here call.
  "git git"
  "make make"
  "ca-certificates /etc/ssl/certs/ca-certificates.crt"
  "iproute2 ip"
  "procps sysctl"
)
bench=(
  # The server.
  "nginx-light nginx"
  # The clients; k6 and assay-load are built.
  "wrk wrk"
  "apache2-utils ab"
  "hey hey"
  "nghttp2-client h2load"
  "siege siege"
  # What starts them, and what counts their system calls.
  "util-linux taskset"
  "linux-perf perf"
)
units=(
  # assay-load ab is compared with it.
  "apache2-utils ab"
)
case ${1:-cluster} in
cluster) wanted=("${cluster[@]}") ;;
units) wanted=("${units[@]}") ;;
bench) wanted=("${bench[@]}") ;;
*)
  echo "install-deps: there is no set $1: take cluster, units or bench" >&2
  exit 2
  ;;
esac

missing=()
for line in "${wanted[@]}"; do
  read -ra words <<<"$line"
  for what in "${words[@]:1}"; do
    if [[ $what == /* && -e $what ]] || command -v "$what" >/dev/null; then
      continue
    fi
    missing+=("${words[0]}")
    break
  done
done
if [[ ${#missing[@]} == 0 ]]; then
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "install-deps: this is no Debian; install what it calls: ${missing[*]}" >&2
  exit 1
fi
if [[ $EUID != 0 ]]; then
  echo "install-deps: run as root, or install: ${missing[*]}" >&2
  exit 1
fi

echo "  apt    installing ${missing[*]}"
log=$(mktemp)
policy=
trap 'rm -f "$log" ${policy:+"$policy"}' EXIT
# While this says "action forbidden", no package starts its service.
if [[ ! -e /usr/sbin/policy-rc.d ]]; then
  policy=/usr/sbin/policy-rc.d
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
# Nothing that is there may go for it, such as another maker's Docker engine.
if ! { apt-get update && apt-get install -y --no-install-recommends --no-remove "${missing[@]}"; } >"$log" 2>&1; then
  tail -20 "$log" >&2
  exit 1
fi
