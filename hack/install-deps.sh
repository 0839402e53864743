#!/usr/bin/env bash
# Installs a set of Debian packages.
#
#   hack/install-deps.sh [cluster]  for the local cluster and the test images
#   hack/install-deps.sh kind       for kind without a Docker engine
#   hack/install-deps.sh units      for the unit tests
#   hack/install-deps.sh bench      for `make bench-load`
#   hack/install-deps.sh noise      for `make bench-noise`
#   hack/install-deps.sh browser    for the tests of pages in a browser
#   hack/install-deps.sh docs       for `make docs`
#
# Does nothing if all programs are installed. Starts no service: the cluster and
# the benchmark run containerd and nginx themselves. Go is not included; see
# hack/check-go.sh.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin # may be missing from a user's PATH

# Each line is a package and what it must provide: programs, or files by path. The
# package itself is not checked, since a containerd from elsewhere works too.
cluster=(
  # The container runtime.
  "containerd containerd ctr"
  "runc runc"
  "containernetworking-plugins /usr/lib/cni/ptp /usr/lib/cni/host-local"
  # Called by the kubelet and kube-proxy.
  "nftables nft"
  "iptables iptables"
  "conntrack conntrack"
  "ethtool ethtool"
  "socat socat"
  # To build the test images.
  "debootstrap debootstrap"
  "maven mvn"
  "default-jre-headless java"
  "python3-pip /usr/share/doc/python3-pip"
  # To build Tomcat Native 2.
  "gcc gcc"
  "libc6-dev /usr/include/stdlib.h"
  "libapr1-dev /usr/include/apr-1.0/apr_general.h"
  "libssl-dev /usr/include/openssl/ssl.h"
  "openjdk-17-jdk-headless /usr/lib/jvm/java-17-openjdk-amd64/include/jni.h"
  # Called by the scripts.
  "git git"
  "make make"
  "ca-certificates /etc/ssl/certs/ca-certificates.crt"
  "iproute2 ip"
  "procps sysctl"
)
kind=(
  # The container engine, and the programs that it calls.
  "podman podman"
  "conmon conmon"
  "runc runc"
  "netavark /usr/lib/podman/netavark"
  "aardvark-dns /usr/lib/podman/aardvark-dns"
  "iptables iptables"
  "nftables nft"
  # To build the node image.
  "debootstrap debootstrap"
)
bench=(
  # The server.
  "nginx-light nginx"
  # The clients. k6 and assay-load are built from source.
  "wrk wrk"
  "apache2-utils ab"
  "hey hey"
  "nghttp2-client h2load"
  "siege siege"
  # To pin them to CPUs.
  "util-linux taskset"
)
noise=(
  # The servers.
  "nginx-light nginx"
  "apache2-bin apache2"
  "tomcat10-common /usr/share/tomcat10/bin/bootstrap.jar"
  "default-jre-headless java"
  # To pin them to a CPU.
  "util-linux taskset"
)
units=(
  # Compared with assay-load ab, and run by clients.
  "apache2-utils ab"
  "siege siege"
)
browser=(
  "chromium chromium"
  "fonts-dejavu-core /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
  # Called by hack/axe.sh.
  "npm npm"
)
docs=(
  # The generator of the site. A Python from elsewhere works too, if it can make virtual environments.
  "python3-venv /usr/share/doc/python3-venv"
  # Called by hack/docs/build.sh.
  "npm npm"
)
case ${1:-cluster} in
cluster) wanted=("${cluster[@]}") ;;
kind) wanted=("${kind[@]}") ;;
noise) wanted=("${noise[@]}") ;;
units) wanted=("${units[@]}") ;;
bench) wanted=("${bench[@]}") ;;
browser) wanted=("${browser[@]}") ;;
docs) wanted=("${docs[@]}") ;;
*)
  echo "install-deps: unknown set $1: must be cluster, kind, units, bench, noise, browser or docs" >&2
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
  echo "install-deps: this is not Debian. Install the equivalents of its packages ${missing[*]}" >&2
  exit 1
fi
if [[ $EUID != 0 ]]; then
  echo "install-deps: run as root, or install ${missing[*]}" >&2
  exit 1
fi

echo "  apt    installing ${missing[*]}"
log=$(mktemp)
policy=
trap 'rm -f "$log" ${policy:+"$policy"}' EXIT
# While this file returns 101 (action forbidden), packages start no services.
if [[ ! -e /usr/sbin/policy-rc.d ]]; then
  policy=/usr/sbin/policy-rc.d
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
# Remove nothing that is installed, such as Docker's own engine.
if ! { apt-get update && apt-get install -y --no-install-recommends --no-remove "${missing[@]}"; } >"$log" 2>&1; then
  tail -20 "$log" >&2
  exit 1
fi
