#!/usr/bin/env bash
# Builds an httpd image for tests, laid out as the official one.
#
#   hack/image/httpd/build.sh TAG ARCHIVE
#
# The program is Debian's. Unlike in the official image, mod_unixd,
# mod_log_config, mod_logio, mod_version and mod_watchdog are part of it and
# can't be loaded: guard their LoadModule with <IfModule !unixd_module> and so
# on, which suits both. Debian with httpd and nginx is a layer that the images
# of both share.
#
# The image also has a module of the tests' own, test/servers/httpd/mod_native.c. It
# is compiled in a Debian with httpd's headers of the same version, as apxs -c does;
# apxs itself needs more of Perl than is left there.
set -euo pipefail

tag=$1 archive=$2
here=$(cd "$(dirname "$0")/.." && pwd)
cache=${ASSAY_CACHE:-$HOME/.cache/assay}
rootfs=$("$here/rootfs.sh" apache2-bin,media-types,nginx)
module=$here/../../test/servers/httpd/mod_native.c

# One directory per recipe: this script and its inputs.
layer=$cache/httpd/$(cat "$0" "$here"/httpd/*.conf "$module" <(echo "$rootfs") | sha256sum | cut -c1-12)
if [[ ! -d $layer ]]; then
  making=$layer.making.$$
  trap 'rm -rf "$making"' EXIT
  home=$making/usr/local/apache2
  mkdir -p "$home"/{bin,conf,htdocs,logs} "$making"/{etc,usr/local/bin}
  cp "$rootfs/usr/sbin/apache2" "$home/bin/httpd"
  cp -r "$rootfs/usr/lib/apache2/modules" "$home/"
  builder=$("$here/rootfs.sh" apache2-dev,gcc,libc6-dev)
  work=$(mktemp -d "$builder/tmp/module.XXXXXX")
  trap 'rm -rf "$making" "$work"' EXIT
  cp "$module" "$work/"
  chroot "$builder" sh -c 'cd "$1" && gcc -shared -fPIC -O2 -Wall -Werror \
    $(apr-1-config --cppflags --cflags --includes) -I/usr/include/apache2 -o mod_native.so mod_native.c' sh "${work#"$builder"}"
  cp "$work/mod_native.so" "$home/modules/"
  rm -rf "$work"
  cp "$rootfs/etc/mime.types" "$here/httpd/httpd.conf" "$home/conf/"
  echo '<html><body><h1>It works!</h1></body></html>' >"$home/htdocs/index.html"
  # The names that Debian's program knows lead to the official image's.
  ln -s /usr/local/apache2 "$making/etc/apache2"
  ln -s conf/httpd.conf "$home/apache2.conf"
  ln -s conf/mime.types "$home/mime.types"
  printf '#!/bin/sh\nset -e\nrm -f /usr/local/apache2/logs/httpd.pid\nexec httpd -DFOREGROUND "$@"\n' \
    >"$making/usr/local/bin/httpd-foreground"
  chmod -R a+rX "$making"
  chmod a+x "$making/usr/local/bin/httpd-foreground"
  chmod 1777 "$home/logs"
  # A concurrent build may have finished first.
  mv -T "$making" "$layer" 2>/dev/null || [[ -d $layer ]]
fi

"$cache/bin/assay-image" --tag "$tag" --output "$archive" \
  --layer "$rootfs=/" \
  --layer "$layer=/" \
  --env PATH=/usr/local/apache2/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  --env HTTPD_PREFIX=/usr/local/apache2 \
  --workdir /usr/local/apache2 --port 80/tcp \
  --cmd httpd-foreground
