#!/usr/bin/env bash
# Makes the image of a Tomcat to test against, laid out as the official one.
#
#   hack/image/tomcat/build.sh VERSION TAG ARCHIVE
#
# The operating system is a layer of its own, shared by all versions: Debian
# with a Java runtime and Tomcat Native. Both parts are kept in the per-user
# cache. The Debian mirror is the one that this machine itself uses.
set -euo pipefail

version=$1 tag=$2 archive=$3
cache=${ASSAY_CACHE:-$HOME/.cache/assay}
suite=bookworm
java=/usr/lib/jvm/java-17-openjdk-amd64
packages=openjdk-17-jre-headless,libtcnative-1,ca-certificates

# The key of the cached root filesystem: this recipe.
recipe="$suite $packages 3"
rootfs=$cache/rootfs/$(sha256sum <<<"$recipe" | cut -c1-12)

if [[ ! -d $rootfs ]]; then
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' |
    awk -v suite="$suite" '$2 == suite && $3 == "main" {print $1; exit}')
  [[ -n $mirror ]] || { echo "tomcat: this machine's apt knows no mirror of Debian $suite" >&2; exit 1; }
  echo "  rootfs Debian $suite with Java 17 and Tomcat Native: building (about 60 s)"
  making=$rootfs.making.$$
  trap 'rm -rf "$making"' EXIT
  mkdir -p "$making"
  debootstrap --variant=minbase --include="$packages" "$suite" "$making" "$mirror" >"$cache/rootfs/debootstrap.log" 2>&1 ||
    { tail -20 "$cache/rootfs/debootstrap.log" >&2; exit 1; }
  # What nothing reads at run time. /proc and /sys are mounted during the
  # installation only.
  for mounted in proc sys; do
    mountpoint -q "$making/$mounted" && umount "$making/$mounted"
  done
  rm -rf "$making"/var/cache/apt "$making"/var/cache/debconf "$making"/var/lib/apt/lists/* "$making"/var/log/* \
    "$making"/usr/share/doc "$making"/usr/share/man "$making"/usr/share/info "$making"/usr/share/locale \
    "$making"/usr/share/lintian "$making"/debootstrap "$making"/tmp/* "$making"/dev/* "$making"/etc/resolv.conf \
    "$making"/etc/hostname "$making$java"/jmods "$making$java"/man
  # Where the official image has its Java.
  mkdir -p "$making/opt/java"
  ln -s "$java" "$making/opt/java/openjdk"
  # Links to absolute paths mean the image's, not this machine's; what they
  # lead to must be readable by whoever the pod runs as.
  chmod 1777 "$making/tmp"
  mv "$making" "$rootfs"
  trap - EXIT
fi

tomcat=$cache/tomcat/$version
if [[ ! -d $tomcat ]]; then
  echo "  tomcat $version: fetching"
  making=$tomcat.making.$$
  trap 'rm -rf "$making"' EXIT
  mkdir -p "$making/download" "$making/home"
  # The plugin's version is named: what a Maven has by default differs.
  (cd "$making" && mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
    -Dartifact="org.apache.tomcat:tomcat:$version:tar.gz" -DoutputDirectory="$making/download")
  tar -xzf "$making/download/tomcat-$version.tar.gz" -C "$making/home" --strip-components=1 --no-same-owner
  cd "$making/home"
  # As the official image: the applications that come along are put aside.
  mv webapps webapps.dist
  mkdir webapps native-jni-lib
  for library in libtcnative-1.so libtcnative-1.so.0; do
    ln -s "/usr/lib/x86_64-linux-gnu/$library" native-jni-lib/
  done
  rm -f bin/*.bat bin/*.tar.gz
  find ./bin -name '*.sh' -exec sed -ri 's|^#!/bin/sh$|#!/usr/bin/env bash|' '{}' +
  chmod -R a+rX .
  chmod 1777 logs temp work
  cd - >/dev/null
  mv "$making/home" "$tomcat"
  rm -rf "$making"
  trap - EXIT
fi

exec "$cache/bin/assay-image" --tag "$tag" --output "$archive" \
  --layer "$rootfs=/" \
  --layer "$tomcat=/usr/local/tomcat" \
  --env PATH=/usr/local/tomcat/bin:/opt/java/openjdk/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  --env JAVA_HOME=/opt/java/openjdk \
  --env LANG=C.UTF-8 --env LC_ALL=C.UTF-8 \
  --env CATALINA_HOME=/usr/local/tomcat \
  --env TOMCAT_NATIVE_LIBDIR=/usr/local/tomcat/native-jni-lib \
  --env LD_LIBRARY_PATH=/usr/local/tomcat/native-jni-lib \
  --env TOMCAT_MAJOR="${version%%.*}" --env TOMCAT_VERSION="$version" \
  --workdir /usr/local/tomcat --port 8080/tcp \
  --cmd catalina.sh --cmd run
