#!/usr/bin/env bash
# Copies an artifact of a Maven repository into a folder.
#
#   hack/image/maven.sh GROUP:NAME:VERSION:TYPE FOLDER
set -euo pipefail
mkdir -p "$2"
# Where no pom.xml could be taken for a project.
cd "$2"
# The plugin's version is named: what a Maven has by default differs. Its output
# is of interest only when it failed: colours slip through -q.
output=$(mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact="$1" -DoutputDirectory="$PWD" 2>&1) ||
  { echo "$output" >&2; exit 1; }
