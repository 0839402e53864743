package usage

import (
	"sync"

	"github.com/assay-dev/assay/internal/node"
	"github.com/assay-dev/assay/internal/result"
)

// nodeReader is the process's, since its counters are since its first sample.
var nodeReader struct {
	sync.Mutex
	open func() (*node.Reader, error)
}

func init() {
	nodeReader.open = sync.OnceValues(func() (*node.Reader, error) { return node.NewReader("/proc", "/sys") })
}

// around returns what happened around the process, which has used the given CPU time in
// microseconds; nil if that can't be read.
func around(cpu int64) *result.NodeUsage {
	nodeReader.Lock()
	defer nodeReader.Unlock()
	r, err := nodeReader.open()
	if err != nil {
		return nil
	}
	return r.Sample(&node.Pod{CPUs: []string{AllowedCPUs()}, CPU: cpu})
}

// Machine returns the machine that the process is on; nil if nothing is known of it.
func Machine() *result.Machine {
	nodeReader.Lock()
	defer nodeReader.Unlock()
	r, err := nodeReader.open()
	if err != nil {
		return nil
	}
	m := r.Machine()
	if m == (result.Machine{}) {
		return nil
	}
	return &m
}
