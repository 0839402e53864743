#!/usr/bin/env bash
# Builds the image of one of the Java servers in test/servers.
#
#   hack/image/java/build.sh DIRECTORY MAIN TAG ARCHIVE [GROUP:NAME:VERSION:jar]...
#
# DIRECTORY has the sources, MAIN is the main class, the artifacts are libraries. The
# operating system is a layer that the Java images share.
set -euo pipefail

directory=$1 main=$2 tag=$3 archive=$4
libraries=("${@:5}")
here=$(cd "$(dirname "$0")/.." && pwd)
cache=${ASSAY_CACHE:-$HOME/.cache/assay}
# Compiles with the Java runtime that Maven brings: no JDK is needed.
compiler=org.eclipse.jdt:ecj:3.33.0:jar
rootfs=$("$here/rootfs.sh" openjdk-17-jre-headless,libtcnative-1,ca-certificates)

layer=$cache/java/$(cat "$0" "$directory"/*.java <(echo "$compiler" "${libraries[@]}") | sha256sum | cut -c1-12)
if [[ ! -d $layer ]]; then
  echo "  java   $(basename "$directory"): compiling"
  making=$layer.making.$$
  trap 'rm -rf "$making"' EXIT
  mkdir -p "$making/server"
  "$here/maven.sh" "$compiler" "$making/compiler"
  for library in "${libraries[@]}"; do
    "$here/maven.sh" "$library" "$making/server"
  done
  jars=$(find "$making/server" -name '*.jar' -printf '%p:')
  java -jar "$making"/compiler/*.jar -17 -proc:none -classpath "$jars" -d "$making/server" "$directory"/*.java
  chmod -R a+rX "$making/server"
  # A concurrent build may have finished first.
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
