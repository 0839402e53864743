package native

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// reserveShare reserves a tenth of a CPU. On two CPUs one can then be exclusive, and 0.9 are
// left for everything else. The kubelet keeps the first CPU for those that share.
const reserveShare = "kubeReserved: {cpu: 100m}"

// reservation returns the part of the kubelet's configuration that reserves CPUs.
func (l Layout) reservation() (string, error) {
	if !l.cluster().hasSecond() {
		return reserveShare, nil
	}
	reserved, err := ReservedCPUs(l.node() == secondNode)
	if err != nil || reserved == "" {
		return reserveShare, err
	}
	return fmt.Sprintf(`cpuManagerPolicyOptions: {strict-cpu-reservation: "true"}
reservedSystemCPUs: %q`, reserved), nil
}

// ReservedCPUs returns the CPUs that the first or the second of two nodes must not give to pods, or nothing if it
// reserves a share of a CPU only.
func ReservedCPUs(second bool) (string, error) {
	cpus, err := readCPUs("/sys/devices/system/cpu")
	if err != nil {
		return "", err
	}
	if len(cpus) < 2 {
		return "", fmt.Errorf("two nodes need two CPUs, this machine has %d", len(cpus))
	}
	return reservedCPUs(second, cpus), nil
}

// reservedCPUs divides the CPUs between two nodes. The second node gets the first half, and its pods run
// nowhere else. The first node gets the second half. So no pod of one node runs on a CPU that is exclusive to
// a pod of the other, with one exception: on fewer than four CPUs, pods of the first node that share CPUs
// also run on those of the second, since a server with an exclusive CPU leaves none for the agent next to it.
func reservedCPUs(second bool, cpus []int) string {
	lower, upper := cpus[:len(cpus)/2], cpus[len(cpus)/2:]
	reserved := lower
	switch {
	case second:
		reserved = upper
	case len(cpus) < 4:
		return ""
	}
	var list []string
	for _, cpu := range reserved {
		list = append(list, strconv.Itoa(cpu))
	}
	return strings.Join(list, ",")
}

// readCPUs returns the numbers of the online CPUs below a directory like /sys/devices/system/cpu.
// CPUs of one package, and in it those of one core, are next to each other, as in the kubelet's order.
func readCPUs(dir string) ([]int, error) {
	type cpu struct{ pack, core, number int }
	directories, err := filepath.Glob(filepath.Join(dir, "cpu[0-9]*", "topology"))
	if err != nil {
		return nil, err
	}
	var cpus []cpu
	for _, directory := range directories {
		var c cpu
		for file, value := range map[string]*int{"physical_package_id": &c.pack, "core_id": &c.core} {
			text, err := os.ReadFile(filepath.Join(directory, file))
			if err != nil {
				return nil, err
			}
			if *value, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Join(directory, file), err)
			}
		}
		name := filepath.Base(filepath.Dir(directory))
		if c.number, err = strconv.Atoi(strings.TrimPrefix(name, "cpu")); err != nil {
			return nil, err
		}
		cpus = append(cpus, c)
	}
	slices.SortFunc(cpus, func(a, b cpu) int {
		return cmp.Or(cmp.Compare(a.pack, b.pack), cmp.Compare(a.core, b.core), cmp.Compare(a.number, b.number))
	})
	var numbers []int
	for _, c := range cpus {
		numbers = append(numbers, c.number)
	}
	return numbers, nil
}
