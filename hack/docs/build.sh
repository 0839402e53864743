#!/usr/bin/env bash
# Builds the documentation as a site in bin/docs. Every link must lead somewhere. The generator is installed into the
# per-user cache, from the packages with the versions and hashes of requirements.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cache=${ASSAY_CACHE:-$HOME/.cache/assay}/docs

mermaid_version=11.17.2
mermaid_digest=581ed7d74bd9048d0e3a91363927d72ef22942d7722546b27f7cc29e35390eb8

work=
trap '[[ -z $work ]] || rm -rf "$work"' EXIT
mkdir -p "$cache"
exec {lock}>"$cache/.lock"
flock "$lock"

python=$cache/$(sha256sum hack/docs/requirements.txt | cut -c1-16)
if [[ ! -e $python/installed ]]; then
  python3 -c 'import ensurepip, venv' 2>/dev/null || hack/install-deps.sh docs
  echo "  tool   mkdocs: installing"
  rm -rf "$python"
  python3 -m venv "$python"
  "$python/bin/pip" install --quiet --disable-pip-version-check --no-deps --require-hashes -r hack/docs/requirements.txt
  touch "$python/installed"
fi

# Draws diagrams. The theme would load it from elsewhere.
mermaid=$cache/mermaid-$mermaid_version.min.js
if [[ ! -f $mermaid ]]; then
  command -v npm >/dev/null || hack/install-deps.sh docs
  echo "  tool   mermaid $mermaid_version: fetching"
  work=$(mktemp -d "$cache/.fetch.XXXXXX")
  (cd "$work" && npm pack --silent "mermaid@$mermaid_version" >/dev/null && tar -xzf ./*.tgz package/dist/mermaid.min.js)
  found=$(sha256sum "$work/package/dist/mermaid.min.js" | cut -d' ' -f1)
  if [[ $found != "$mermaid_digest" ]]; then
    echo "docs: mermaid $mermaid_version has the digest $found, not $mermaid_digest" >&2
    exit 1
  fi
  mv "$work/package/dist/mermaid.min.js" "$mermaid"
fi
flock -u "$lock"

started=$SECONDS
# Not --quiet, which hides warnings from --strict. The theme's makers announce another generator at each build.
log=$(mktemp)
trap 'rm -rf "$log" ${work:+"$work"}' EXIT
if ! NO_MKDOCS_2_WARNING=1 "$python/bin/mkdocs" build --strict --clean --config-file hack/docs/mkdocs.yml >"$log" 2>&1; then
  grep -v '^INFO' "$log" >&2
  exit 1
fi
install -m 644 "$mermaid" bin/docs/assets/mermaid.min.js
echo "  docs   bin/docs: $(find bin/docs -name '*.html' | wc -l) pages in $((SECONDS - started)) s"
