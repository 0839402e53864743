// Package agent runs next to the server in the target's pod: it probes whether the server is ready,
// and samples what its processes use. It reads only /proc and needs no privilege.
package agent
