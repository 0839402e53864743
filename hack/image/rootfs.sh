#!/usr/bin/env bash
# Prints the directory of a Debian root filesystem with the given packages. Builds
# it first unless the per-user cache has it. Images share it as a layer.
#
#   hack/image/rootfs.sh PACKAGE[,PACKAGE...]
#
# It uses the Debian mirror from the apt configuration of this machine.
set -euo pipefail

packages=$1
cache=${ASSAY_CACHE:-$HOME/.cache/assay}
suite=bookworm
java=/usr/lib/jvm/java-17-openjdk-amd64

# The cache key. Increment the number when this script builds something else.
recipe="$suite $packages 3"
rootfs=$cache/rootfs/$(sha256sum <<<"$recipe" | cut -c1-12)
if [[ -d $rootfs ]]; then
  echo "$rootfs"
  exit 0
fi

mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' |
  awk -v suite="$suite" '$2 == suite && $3 == "main" {print $1; exit}')
[[ -n $mirror ]] || { echo "rootfs: no mirror of Debian $suite in the apt configuration of this machine" >&2; exit 1; }
echo "  rootfs Debian $suite with ${packages//,/ }: building (about 60 s)" >&2
making=$rootfs.making.$$
trap 'rm -rf "$making"' EXIT
mkdir -p "$making"
debootstrap --variant=minbase --include="$packages" "$suite" "$making" "$mirror" >"$making.log" 2>&1 ||
  { tail -20 "$making.log" >&2; rm -f "$making.log"; exit 1; }
rm -f "$making.log"
# /proc and /sys are mounted during the installation only.
for mounted in proc sys; do
  ! mountpoint -q "$making/$mounted" || umount "$making/$mounted"
done
# Remove what nothing reads at run time. httpd depends on Perl's modules for tools
# that don't run here.
rm -rf "$making"/var/cache/apt "$making"/var/cache/debconf "$making"/var/lib/apt/lists/* "$making"/var/log/* \
  "$making"/usr/share/doc "$making"/usr/share/man "$making"/usr/share/info "$making"/usr/share/locale \
  "$making"/usr/share/lintian "$making"/debootstrap "$making"/tmp/* "$making"/dev/* "$making"/etc/resolv.conf \
  "$making"/etc/hostname "$making$java"/jmods "$making$java"/man \
  "$making"/usr/share/perl "$making"/usr/lib/x86_64-linux-gnu/perl
# The path of Java in the official images.
if [[ -d $making$java ]]; then
  mkdir -p "$making/opt/java"
  ln -s "$java" "$making/opt/java/openjdk"
fi
chmod 1777 "$making/tmp"
# A concurrent build may have finished first.
mv -T "$making" "$rootfs" 2>/dev/null || [[ -d $rootfs ]]
echo "$rootfs"
