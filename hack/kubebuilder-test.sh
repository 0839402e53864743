#!/usr/bin/env bash
# Scaffolds a further kind with kubebuilder in a copy of this clone, as CONTRIBUTING says, generates, and checks that it is
# everywhere where it belongs, and that all of it builds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z -co --exclude-standard | grep -zv '^docs/\(reports\|screenshots\)/' | xargs -0 cp --parents -t "$copy" --
cd "$copy"
git init -q
git add -A
git -c user.name=test -c user.email=test@localhost commit -qm before

fail() { echo "kubebuilder-test: $1" >&2; exit 1; }

hack/kubebuilder.sh create api --group assay --version v1alpha1 --kind Probe --resource --controller=false --make=false
# PROJECT is read and written by kubebuilder alone: nothing else in it changes.
[[ $(git diff --numstat PROJECT | cut -f1,2) == $'8\t0' ]] || fail "PROJECT isn't as kubebuilder writes it: $(git diff PROJECT)"
make --no-print-directory generate
for where in config/crd/bases/assay.dev_probes.yaml charts/assay/templates/crd/assay.dev_probes.yaml; do
  [[ -s $where ]] || fail "$where is missing"
done
grep -q 'assay.dev_probes.yaml' config/crd/kustomization.yaml || fail "config/crd doesn't have the kind"
grep -q 'name: probes.assay.dev' dist/install.yaml || fail "dist/install.yaml doesn't have the kind"
grep -q 'func (in \*Probe) DeepCopyObject' api/v1alpha1/zz_generated.deepcopy.go || fail "the kind has no deep copy"
go vet ./api/... ./cmd/manager
go test ./api/...
PATH=${ASSAY_CACHE:-$HOME/.cache/assay}/bin:$PATH helm lint --quiet --strict charts/assay
# What changed beside new files, which is what a reviewer must read.
git status --short
echo "kubebuilder-test: ok"
