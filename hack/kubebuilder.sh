#!/usr/bin/env bash
# Runs kubebuilder in this project.
#
#   hack/kubebuilder.sh create api --group assay --version v1alpha1 --kind KIND --controller=false
#
# kubebuilder looks for the main program in cmd/main.go. Ours is in cmd/manager, and its controllers are in controllers/:
# scaffold the kind alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
hack/tools/build.sh kubebuilder
trap 'rm -f cmd/main.go hack/boilerplate.go.txt' EXIT
echo 'package main' >cmd/main.go
: >hack/boilerplate.go.txt # no license at the top of files
"${ASSAY_CACHE:-$HOME/.cache/assay}/bin/kubebuilder" "$@"
# It teaches kustomize about webhooks, of which there are none.
rm -f config/crd/kustomizeconfig.yaml
