# Compares the state of this machine before and after clusters. Sourced by the leak tests.
#
# They set these first:
#   state, run   the directories of the cluster
#   kubeconfig   its kubeconfig

cluster=${ASSAY_CACHE:-$HOME/.cache/assay}/bin/assay-cluster
kubectl=${cluster%/*}/kubectl
work=$(mktemp -d)

if [[ $EUID != 0 ]]; then
  echo "${0##*/}: run as root" >&2
  exit 1
fi

# processes lists the processes of the cluster. It recognizes them by their cgroup,
# by their command line, or by a mount namespace with the cluster's mounts. Zombies
# don't count.
processes() {
  local proc command
  for proc in /proc/[0-9]*; do
    if grep -qs '^State:[[:space:]]*Z' "$proc/status"; then continue; fi
    command=$(tr '\0' ' ' 2>/dev/null <"$proc/cmdline") || continue
    if [[ "$command " =~ ($state|$run)[/\ ] || $command == *"assay-cluster supervise"* ]] ||
      grep -qsE "/(assay-cluster|libpod)" "$proc/cgroup" || grep -qsE " ($state|$run)[/ ]" "$proc/mountinfo"; then
      echo "${proc#/proc/} ${command:0:120}"
    fi
  done
}

cgroups() {
  # In cgroup v1 the groups are one level below the hierarchies.
  local depth=2
  [[ ! -e /sys/fs/cgroup/cgroup.controllers ]] || depth=1
  find /sys/fs/cgroup -maxdepth $depth -type d
  find /sys/fs/cgroup -type d \( -name 'assay-cluster*' -o -name 'kubepods*' -o -name 'cri-containerd*' -o -name 'libpod*' \)
}

# files lists files. Sockets are listed with their inodes, since a replaced socket
# is a change.
files() {
  find /run /var/lib /var/log /opt /etc/cni /lib/modules "$HOME/.kube" -xdev -maxdepth 3 \
    \( -type s -printf '%p socket %i\n' -o -print \) 2>/dev/null || true
}

# settings lists the kernel settings except those that change by themselves.
settings() {
  sysctl -a 2>/dev/null | grep -vE '^(fs\.(dentry-state|file-nr|inode-(nr|state)|aio-nr|quota\..*)|kernel\.(ns_last_pid|random\..*|pty\.nr|perf_.*)|net\.netfilter\.nf_conntrack_count) '
}

# snapshot prints the state of the machine: one thing per line, its kind first.
snapshot() {
  processes | sed 's/^/process /'
  awk '{for (i = 7; $i != "-"; i++); print "mount", $5, $(i + 1), $(i + 2)}' /proc/self/mountinfo | sort
  ip -brief link | awk '{print "interface", $1}' | sort
  ip -brief address | awk '{$2 = ""; print "address", $0}' | sort
  { ip route show table all; ip -6 route show table all; } | sed 's/ expires [0-9a-z]*//; s/^/route /' | sort
  { ip rule; ip -6 rule; } | sed 's/^/rule /'
  nft --stateless list ruleset | sed 's/^/netfilter /'
  { cat /proc/net/ip_tables_names /proc/net/ip6_tables_names 2>/dev/null || true; } | sed 's/^/legacy-iptables /'
  cgroups | sort -u | sed 's/^/cgroup /'
  lsns --noheadings --type net --output NS | sort -u | sed 's/^ */network-namespace /'
  files | sort | sed 's/^/file /'
  settings | sort | sed 's/^/setting /'
}

# plant creates a leak of each kind. The addresses are reserved for documentation
# (RFC 5737).
planted=()
plant() {
  (exec -a "$run/leak" sleep 600) &
  planted+=($!)
  unshare --net sleep 600 &
  planted+=($!)
  mkdir "$work/mount" /run/assay-leak
  mount -t tmpfs assay-leak "$work/mount"
  ip link add assay-leak0 type veth peer name assay-leak1
  ip address add 192.0.2.9/32 dev assay-leak0
  ip route add blackhole 198.51.100.0/24 table 4242
  ip rule add to 198.51.100.0/24 table 4242
  nft add table ip assay-leak
  mkdir "$group"
}

# The cgroup to leak: in the first hierarchy, or the only one.
group=$(find /sys/fs/cgroup -maxdepth 2 -name cgroup.procs -printf '%h\n' | sort | head -1)/assay-cluster-leak

unplant() {
  local pid
  for pid in ${planted[@]+"${planted[@]}"}; do
    kill -KILL "$pid" && wait "$pid"
  done
  planted=()
  umount "$work/mount"
  ip link delete assay-leak0
  ip rule delete to 198.51.100.0/24 table 4242
  ip route delete blackhole 198.51.100.0/24 table 4242
  nft delete table ip assay-leak
  rmdir "$group" /run/assay-leak "$work/mount"
} 2>/dev/null

trap 'unplant || true; rm -rf "$work"' EXIT

self_check() {
  local namespace tries leak missed=0
  snapshot >"$work/clean"
  plant
  # Wait until both processes have changed their name and namespace.
  for tries in {1..200}; do
    namespace=$(readlink "/proc/${planted[1]}/ns/net") || true
    [[ $namespace == "$(readlink /proc/self/ns/net)" || $(<"/proc/${planted[0]}/comm") != sleep ]] || break
    sleep 0.02
  done
  snapshot >"$work/planted"
  unplant || true
  diff "$work/clean" "$work/planted" >"$work/found" || true
  for leak in "process [0-9]* $run/leak" "mount $work/mount" "interface assay-leak0" \
    "address assay-leak0" "route blackhole 198.51.100.0/24" "rule .*198.51.100.0/24" \
    "netfilter table ip assay-leak" "cgroup $group" "network-namespace ${namespace//[^0-9]/}" \
    "file /run/assay-leak" "setting net.ipv4.conf.assay-leak0.forwarding"; do
    if ! grep -q "^> $leak" "$work/found"; then
      echo "FAIL  leak not detected: $leak"
      missed=1
    fi
  done
  [[ $missed == 1 ]] || echo "ok    a leak of each kind is detected"
  return $missed
}

failures=0
fail() { failures=$((failures + 1)); }

# compare prints the differences from the snapshot before the test.
compare() {
  snapshot >"$work/after"
  if diff --unified=0 --label before --label "after $1" "$work/before" "$work/after"; then
    echo "ok    $1"
  else
    echo "FAIL  $1: + marks what was left behind, - what was changed or removed"
    fail
  fi
}

# kill_after kills a background command if it is running after a delay.
kill_after() {
  sleep "$1"
  kill -KILL "$2" 2>/dev/null || true
  wait "$2" 2>/dev/null || true
}

# kill_when kills a background command as soon as a file exists, or a number of seconds later.
kill_when() {
  until [[ -e $1 ]] || ! kill -0 "$2" 2>/dev/null; do sleep 0.01; done
  kill_after "${3:-0}" "$2"
}

# with_pods creates pods with volumes on each node and a Service, which `down` must remove.
with_pods() {
  KUBECONFIG=$kubeconfig KUBECACHEDIR=$work/kubectl "$kubectl" apply --filename - >"$work/log" <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: leak, namespace: default}
spec:
  replicas: 4
  selector: {matchLabels: {app: leak}}
  template:
    metadata: {labels: {app: leak}}
    spec:
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: leak}}
      containers:
      - name: leak
        image: localhost/assay-test/pause:dev
        imagePullPolicy: IfNotPresent
        resources: {requests: {cpu: 10m, memory: 8Mi}}
        volumeMounts: [{name: memory, mountPath: /memory}, {name: disk, mountPath: /disk}]
      volumes:
      - {name: memory, emptyDir: {medium: Memory}}
      - {name: disk, emptyDir: {}}
---
apiVersion: v1
kind: Service
metadata: {name: leak, namespace: default}
spec: {type: NodePort, selector: {app: leak}, ports: [{port: 80}]}
YAML
  KUBECONFIG=$kubeconfig KUBECACHEDIR=$work/kubectl \
    "$kubectl" rollout status deployment/leak --timeout=60s >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}

# begin checks that leaks are detected and that there is no cluster, and takes the first snapshot.
begin() {
  self_check || fail
  if [[ ${1:-} == --self-check ]]; then
    exit $((failures > 0))
  fi
  if [[ -e $state || -e $run ]]; then
    echo "${0##*/}: there is a cluster; remove it first" >&2
    exit 1
  fi
  snapshot >"$work/before"
}
