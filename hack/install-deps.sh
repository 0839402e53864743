#!/usr/bin/env bash
# Installs the Debian packages that the local cluster and the test images need.
# Does nothing when they are there. Starts no service: the cluster runs a
# containerd of its own.
set -euo pipefail

packages=(
  containerd runc containernetworking-plugins # run pods
  nftables iptables conntrack ethtool socat   # what the kubelet and kube-proxy call
  debootstrap                                 # the test images' file system
  make git curl ca-certificates
)
command -v mvn >/dev/null || packages+=(maven)

missing=()
for package in "${packages[@]}"; do
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
done
if [[ ${#missing[@]} == 0 ]]; then
  exit 0
fi
if [[ $EUID != 0 ]]; then
  echo "install-deps: run as root, or install: ${missing[*]}" >&2
  exit 1
fi

echo "  apt    installing ${missing[*]}"
# While this says "action forbidden", no package starts its service.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
  trap 'rm -f "$policy"' EXIT
fi
log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -20 "$log" >&2
  exit 1
fi
rm -f "$log"
