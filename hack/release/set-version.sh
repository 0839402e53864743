#!/usr/bin/env bash
# Replaces the version of a tree in all files that name it: image tags, the chart, recipes and docs. Afterwards
# dist/install.yaml must be built again: make set-version does both.
#
#   hack/release/set-version.sh VERSION [ROOT]     ROOT is the tree; by default this one
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
new=${1:-}
cd "${2:-$here/../..}"

# https://semver.org, without build metadata: a tag of an image can't have its plus sign.
if [[ ! $new =~ ^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$ ]]; then
  echo "set-version: version \"$new\": must be MAJOR.MINOR.PATCH or MAJOR.MINOR.PATCH-PRERELEASE, such as 0.2.0 or 0.2.0-rc.1" >&2
  exit 2
fi
old=$("$here/version.sh" .)

mapfile -t files < <(ls -d config/manager/kustomization.yaml charts/assay/Chart.yaml charts/assay/tests/*.yaml 2>/dev/null
  grep -rlF "$old" docs/quickstart.md docs/install.md config/gitops/recipes 2>/dev/null || true)
# Other numbers may contain the old version, such as 10.1.0 or 0.1.0.1.
sed -i -E "/^kubeVersion:/! s/(^|[^0-9.])${old//./\\.}($|[^0-9A-Za-z.-])/\1$new\2/g" "${files[@]}"

prerelease=false
[[ $new != *-* ]] || prerelease=true
sed -i "s|^\(  artifacthub.io/prerelease:\).*|\1 \"$prerelease\"|" charts/assay/Chart.yaml
