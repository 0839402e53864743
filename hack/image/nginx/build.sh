#!/usr/bin/env bash
# Builds an nginx image for tests, laid out as the official one.
#
#   hack/image/nginx/build.sh TAG ARCHIVE
#
# The program is Debian's. Debian with httpd and nginx is a layer that the
# images of both share.
set -euo pipefail

tag=$1 archive=$2
here=$(cd "$(dirname "$0")/.." && pwd)
cache=${ASSAY_CACHE:-$HOME/.cache/assay}
rootfs=$("$here/rootfs.sh" apache2-bin,media-types,nginx)

# One directory per recipe: this script and its inputs.
layer=$cache/nginx/$(cat "$0" "$here"/nginx/*.conf <(echo "$rootfs") | sha256sum | cut -c1-12)
if [[ ! -d $layer ]]; then
  making=$layer.making.$$
  trap 'rm -rf "$making"' EXIT
  mkdir -p "$making"/etc/nginx/conf.d "$making"/var/{cache,lib,log}/nginx
  cp "$here/nginx/nginx.conf" "$making/etc/nginx/"
  cp "$here/nginx/default.conf" "$making/etc/nginx/conf.d/"
  ln -s /dev/stdout "$making/var/log/nginx/access.log"
  ln -s /dev/stderr "$making/var/log/nginx/error.log"
  chmod -R a+rX "$making"
  # Where bodies are buffered unless a configuration says otherwise: the
  # official program's directory and Debian's.
  chmod 1777 "$making"/var/{cache,lib}/nginx
  # A concurrent build may have finished first.
  mv -T "$making" "$layer" 2>/dev/null || [[ -d $layer ]]
fi

"$cache/bin/assay-image" --tag "$tag" --output "$archive" \
  --layer "$rootfs=/" \
  --layer "$layer=/" \
  --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  --port 80/tcp \
  --cmd nginx --cmd -g --cmd 'daemon off;'
