#!/usr/bin/env bash
# Copies an artifact of a Maven repository to a directory.
#
#   hack/image/maven.sh GROUP:NAME:VERSION:TYPE DIRECTORY
set -euo pipefail
mkdir -p "$2"
# Maven must not find a pom.xml in the working directory.
cd "$2"
# The default version of the plugin depends on Maven's. The output is shown only on
# failure, since -q doesn't suppress color codes.
output=$(mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact="$1" -DoutputDirectory="$PWD" 2>&1) ||
  { echo "$output" >&2; exit 1; }
