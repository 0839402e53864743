package agent

import (
	"bytes"
	"maps"
	"slices"

	"github.com/assay-dev/assay/internal/result"
)

// container is what is known of one container of the target's pod.
type container struct {
	used     usage // as the kernel's figures add up
	shown    usage // as it was reported: never less than before
	switched switched
	resident int64 // the largest resident set, in bytes
	first    int   // its process with the lowest number; 0 without any
}

// containers are those that are told apart, by name. There is always the
// server's, to which belongs what is in none of the others.
type containers struct {
	byName map[string]*container
	// ids are the runtime's identities of containers.
	ids []identified
	in  map[process]*container // at the last reading
}

type identified struct {
	id string
	in *container
}

func newContainers() containers {
	return containers{byName: map[string]*container{result.ServerContainer: {}}}
}

// tell says which containers there are: their names by the runtime's identities
// of them, without scheme. What was counted before stays where it was counted;
// a container that isn't named any more keeps what it has.
func (c *containers) tell(names map[string]string) {
	c.ids = nil
	for _, id := range slices.Sorted(maps.Keys(names)) {
		name := names[id]
		if id == "" || name == "" {
			continue
		}
		if c.byName[name] == nil {
			c.byName[name] = &container{}
		}
		c.ids = append(c.ids, identified{id, c.byName[name]})
	}
}

// of is the container of a process with these control groups: the content of
// /proc/PID/cgroup. Runtimes put a container's identity into the path of its
// group, which is shown from the root of the hierarchy (as with version 1) or
// from the reader's own (cgroup_namespaces(7)).
func (c *containers) of(cgroup []byte) *container {
	for _, known := range c.ids {
		if bytes.Contains(cgroup, []byte(known.id)) {
			return known.in
		}
	}
	return c.byName[result.ServerContainer]
}

// update takes in which processes are in which container. The largest resident
// set of a container in which there are processes of another isn't its own, so
// that it is taken anew when they are told apart.
func (c *containers) update(all []sampled) {
	for _, one := range c.byName {
		one.first = 0
	}
	now := make(map[process]*container, len(all))
	for i := range all {
		s := &all[i]
		now[s.process()] = s.in
		if before := c.in[s.process()]; before != nil && before != s.in {
			before.resident = 0
		}
		if s.in.first == 0 {
			s.in.first = s.PID
		}
	}
	c.in = now
}

// backends are the names of all containers but the server's, in their order.
func (c *containers) backends() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.byName)), func(name string) bool {
		return name == result.ServerContainer
	})
}
