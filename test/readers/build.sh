#!/usr/bin/env bash
# Builds what the tests of this directory read reports with: HdrHistogram's library for Java, and Reader.java.
#
#   test/readers/build.sh DIRECTORY
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
directory=$1
library=org.hdrhistogram:HdrHistogram:2.2.2:jar
# Compiles with the Java runtime that Maven brings: no JDK is needed.
compiler=org.eclipse.jdt:ecj:3.33.0:jar

built=$directory/$(cat "$0" "$here/Reader.java" | sha256sum | cut -c1-12)
if [[ ! -d $built ]]; then
  making=$built.making.$$
  trap 'rm -rf "$making"' EXIT
  "$here/../../hack/image/maven.sh" "$library" "$making/library" >&2
  "$here/../../hack/image/maven.sh" "$compiler" "$making/compiler" >&2
  java -jar "$making"/compiler/*.jar -17 -proc:none -classpath "$(echo "$making"/library/*.jar)" -d "$making/library" "$here/Reader.java" >&2
  rm -r "$making/compiler"
  # A concurrent build may have finished first.
  mv -T "$making" "$built" 2>/dev/null || [[ -d $built ]]
fi
echo "$built/library"
