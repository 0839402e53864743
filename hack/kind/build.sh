#!/usr/bin/env bash
# Builds a node image for kind from Debian's packages, from the files in kind's Go module, and from
# the Kubernetes programs in the per-user cache. The images of the control plane are in it.
#
#   hack/kind/build.sh TAG ARCHIVE
#
# Does nothing if the archive was built from the same sources.
set -euo pipefail
export LC_ALL=C

tag=$1 archive=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${ASSAY_CACHE:-$HOME/.cache/assay}
bin=$cache/bin images=${archive%/*}
# What kind's own image has, as far as this cluster needs it, and the container runtime.
packages=systemd,conntrack,iptables,nftables,iproute2,ethtool,kmod,ca-certificates,jq,procps,containerd,runc,containernetworking-plugins
control_plane=(kube-apiserver kube-controller-manager kube-scheduler kube-proxy etcd)

kind=$(cd "$here/../tools/kind" && export GOWORK=off && go mod download sigs.k8s.io/kind && go list -m -f '{{.Dir}}' sigs.k8s.io/kind)
version=$(sed -n 's/.*gitVersion=//p' "$here/../tools/kubernetes/ldflags")
if [[ $("$bin/kubeadm" version -o short) != "$version" ]]; then
  echo "hack/kind/build.sh: hack/tools/kubeadm and hack/tools/kubernetes must have the same version" >&2
  exit 1
fi
tree=$("$here/../image/rootfs.sh" "$packages")

key=$({
  echo "$tag $tree $kind $version"
  cat "$here"/build.sh "$here"/*.service "$images"/{pause,coredns}.tar.stamp
  cd "$bin" && sha256sum assay-image kubeadm kubelet kubectl "${control_plane[@]}"
} | sha256sum)
if [[ -f $archive && -f $archive.key && $(<"$archive.key") == "$key" ]]; then
  echo "  image  $tag: unchanged"
  exit 0
fi

work=$(mktemp -d "$cache/.kind-node.XXXXXX")
trap 'rm -rf "$work"' EXIT
node=$work/node
mkdir "$node"
cp -a "$tree/." "$node"

# The files of kind's base image. Its Dockerfile sets the modes, which a module doesn't keep.
cp -r --no-preserve=mode "$kind/images/base/files/." "$node"
find "$node/kind" -type d -exec chmod 755 {} +
chmod 755 "$node"/kind/bin/* "$node"/usr/local/bin/*
cp "$here"/*.service "$node/etc/systemd/system"

# As its Dockerfile, let systemd start only what a node needs. Binary formats are registered with
# the kernel of the machine.
rm -f "$node"/lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service \
  "$node"/lib/systemd/system/{multi-user,local-fs,basic}.target.wants/* \
  "$node"/lib/systemd/system/sockets.target.wants/*{udev,initctl}* \
  "$node"/etc/systemd/system/*.wants/*
# Debian's kernel settings are those of the machine, which a privileged container would change.
rm -f "$node"/usr/lib/sysctl.d/*.conf "$node"/etc/sysctl.d/99-sysctl.conf
echo ReadKMsg=no >>"$node/etc/systemd/journald.conf"
ln -s /usr/lib/systemd/systemd "$node/sbin/init"
chroot "$node" systemctl --quiet enable kubelet.service containerd.service undo-mount-hacks.service import-images.service
chroot "$node" systemctl --quiet mask systemd-binfmt.service

# Debian's container runtime where kind has its own, with what kind's version 2 of containerd does by
# default. The machine may lack the right to lower the OOM scores of containers.
ln -s /usr/bin/containerd /usr/bin/ctr "$node/usr/local/bin/"
mkdir -p "$node/opt/cni" "$node/etc/kubernetes/manifests"
ln -s /usr/lib/cni "$node/opt/cni/bin"
sed -i -e 's|^  sandbox_image = .*|  sandbox_image = "localhost/assay-test/pause:dev"|' \
  -e 's|^  restrict_oom_score_adj = .*|  restrict_oom_score_adj = true\n  enable_unprivileged_ports = true\n  enable_unprivileged_icmp = true|' \
  "$node/etc/containerd/config.toml"
chroot "$node" ctr oci spec |
  chroot "$node" jq '.hooks.createContainer += [{path: "/kind/bin/mount-product-files.sh"}] | del(.process.rlimits)' \
    >"$node/etc/containerd/cri-base.json"

install -m 755 "$bin"/{kubeadm,kubelet,kubectl} "$node/usr/bin"
echo -n "$version" >"$node/kind/version"

# The images of the control plane. kube-proxy calls nft.
mkdir "$node/kind/images" "$node/kind/patches"
cp "$images"/{pause,coredns}.tar "$node/kind/images"
for program in "${control_plane[@]}"; do
  layer=$bin/$program=/usr/local/bin/$program
  image_tag=$version
  case $program in
  etcd) image_tag=dev ;;
  kube-proxy)
    for file in /usr/sbin/nft $(chroot "$node" ldd /usr/sbin/nft | grep -o '/[^ ]*'); do
      layer+=,$node$(chroot "$node" readlink -f "$file")=$file
    done
    ;;
  esac
  "$bin/assay-image" --tag "localhost/assay-test/$program:$image_tag" --output "$work/$program.tar" \
    --layer "$layer" --env PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin >/dev/null
  mv "$work/$program.tar" "$node/kind/images"
  # kubeadm's requests would leave too little of two CPUs for runs.
  [[ $program == kube-proxy ]] ||
    echo '[{op: replace, path: /spec/containers/0/resources/requests/cpu, value: 10m}]' >"$node/kind/patches/$program+json.yaml"
done

# The stamp of assay-image never matches, because the tree is new.
"$bin/assay-image" --tag "$tag" --output "$work/node.tar" --layer "$node=/" --env container=docker \
  --stop-signal SIGRTMIN+3 --entrypoint /usr/local/bin/entrypoint --entrypoint /sbin/init
rm -f "$archive.key"
mv "$work/node.tar" "$archive"
echo "$key" >"$archive.key"
