#!/usr/bin/env bash
# Prints the folder of a Debian root filesystem with the given packages, and
# makes it first when the per-user cache has none. Images share it as a layer.
#
#   hack/image/rootfs.sh PACKAGE[,PACKAGE...]
#
# The Debian mirror is the one that this machine itself uses.
set -euo pipefail

packages=$1
cache=${ASSAY_CACHE:-$HOME/.cache/assay}
suite=bookworm
java=/usr/lib/jvm/java-17-openjdk-amd64

# The key of the cached folder: this recipe.
recipe="$suite $packages 3"
rootfs=$cache/rootfs/$(sha256sum <<<"$recipe" | cut -c1-12)
if [[ -d $rootfs ]]; then
  echo "$rootfs"
  exit 0
fi

mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' |
  awk -v suite="$suite" '$2 == suite && $3 == "main" {print $1; exit}')
[[ -n $mirror ]] || { echo "rootfs: this machine's apt knows no mirror of Debian $suite" >&2; exit 1; }
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
# What nothing reads at run time. Perl's modules come with httpd, for tools
# that aren't run here.
rm -rf "$making"/var/cache/apt "$making"/var/cache/debconf "$making"/var/lib/apt/lists/* "$making"/var/log/* \
  "$making"/usr/share/doc "$making"/usr/share/man "$making"/usr/share/info "$making"/usr/share/locale \
  "$making"/usr/share/lintian "$making"/debootstrap "$making"/tmp/* "$making"/dev/* "$making"/etc/resolv.conf \
  "$making"/etc/hostname "$making$java"/jmods "$making$java"/man \
  "$making"/usr/share/perl "$making"/usr/lib/x86_64-linux-gnu/perl
# Where the official images have their Java.
if [[ -d $making$java ]]; then
  mkdir -p "$making/opt/java"
  ln -s "$java" "$making/opt/java/openjdk"
fi
chmod 1777 "$making/tmp"
# Somebody else may have made the same in the meantime.
mv -T "$making" "$rootfs" 2>/dev/null || [[ -d $rootfs ]]
echo "$rootfs"
