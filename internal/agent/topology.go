package agent

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/utils/cpuset"
)

// maxTopologies bounds the lists of CPUs whose cores are kept.
const maxTopologies = 16

// topology reads which CPUs are threads of the same core (SMT). A machine's cores don't change, so each
// list of CPUs is looked up once.
type topology struct {
	sys   string            // where the sys file system is mounted
	cores map[string]string // by list of CPUs
}

func newTopology(sys string) topology { return topology{sys: sys, cores: map[string]string{}} }

// coresOf returns all CPUs of the cores to which the CPUs of a list belong, these included, as in "1,5"; or ""
// if that is unknown. CPUs that are offline have no core.
func (t *topology) coresOf(cpus string) string {
	if cores, known := t.cores[cpus]; known {
		return cores
	}
	if len(t.cores) >= maxTopologies {
		clear(t.cores)
	}
	t.cores[cpus] = t.read(cpus)
	return t.cores[cpus]
}

func (t *topology) read(cpus string) string {
	list, err := cpuset.Parse(cpus)
	if err != nil {
		return ""
	}
	all := cpuset.New()
	for _, cpu := range list.UnsortedList() {
		if all.Contains(cpu) {
			continue
		}
		// Documentation/ABI/stable/sysfs-devices-system-cpu. Kernels before 5.3 lack the newer name, core_cpus_list.
		text, err := os.ReadFile(filepath.Join(t.sys, "devices/system/cpu", "cpu"+strconv.Itoa(cpu), "topology/thread_siblings_list"))
		if err != nil {
			continue
		}
		if siblings, err := cpuset.Parse(strings.TrimSpace(string(text))); err == nil {
			all = all.Union(siblings)
		}
	}
	return all.String()
}
