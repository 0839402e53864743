#!/usr/bin/env bash
# Copies an artifact of a Maven repository into a folder.
#
#   hack/image/maven.sh GROUP:NAME:VERSION:TYPE FOLDER
set -euo pipefail
# Where no pom.xml of ours could be taken for a project. The plugin's version is
# named: what a Maven has by default differs.
mkdir -p "$2"
cd "$2"
exec mvn -q -B -Dstyle.color=never org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact="$1" -DoutputDirectory="$2"
