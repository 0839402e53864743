#!/usr/bin/env bash
# Makes the image of one of the servers in test/servers that are written in
# Java.
#
#   hack/image/java/build.sh FOLDER MAIN TAG ARCHIVE [GROUP:NAME:VERSION:jar]...
#
# FOLDER has the sources, MAIN is the class to start, the artifacts are the
# libraries. The layer below is the one that Tomcat's image has.
set -euo pipefail

folder=$1 main=$2 tag=$3 archive=$4
libraries=("${@:5}")
here=$(cd "$(dirname "$0")/.." && pwd)
cache=${ASSAY_CACHE:-$HOME/.cache/assay}
# Compiles with the Java runtime that Maven brings: no JDK is needed.
compiler=org.eclipse.jdt:ecj:3.33.0:jar
rootfs=$("$here/rootfs.sh" openjdk-17-jre-headless,libtcnative-1,ca-certificates)

layer=$cache/java/$(cat "$0" "$folder"/*.java <(echo "$compiler" "${libraries[@]}") | sha256sum | cut -c1-12)
if [[ ! -d $layer ]]; then
  echo "  java   $(basename "$folder"): compiling"
  making=$layer.making.$$
  trap 'rm -rf "$making"' EXIT
  mkdir -p "$making/server"
  "$here/maven.sh" "$compiler" "$making/compiler"
  for library in "${libraries[@]}"; do
    "$here/maven.sh" "$library" "$making/server"
  done
  jars=$(find "$making/server" -name '*.jar' -printf '%p:')
  java -jar "$making"/compiler/*.jar -17 -proc:none -classpath "$jars" -d "$making/server" "$folder"/*.java
  chmod -R a+rX "$making/server"
  # Somebody else may have made the same in the meantime.
  mv -T "$making/server" "$layer" 2>/dev/null || [[ -d $layer ]]
fi

"$cache/bin/assay-image" --tag "$tag" --output "$archive" --user 65532:65532 \
  --layer "$rootfs=/" \
  --layer "$layer=/opt/server" \
  --env PATH=/opt/java/openjdk/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  --env JAVA_HOME=/opt/java/openjdk \
  --env LANG=C.UTF-8 --env LC_ALL=C.UTF-8 \
  --workdir /opt/server --port 8080/tcp \
  --entrypoint java --entrypoint -cp --entrypoint '/opt/server:/opt/server/*' --entrypoint "$main"
