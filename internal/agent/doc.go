// Package agent is what runs beside a server in the target's pod: it writes the
// files that the server serves, asks it whether it is ready, and reads what its
// processes use. It reads /proc alone, and needs no privilege.
package agent
