package host

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// Tables returns the netfilter tables as `nft list tables` prints them.
func Tables() ([]string, error) {
	out, err := exec.Command("nft", "list", "tables").Output()
	if err != nil {
		return nil, fmt.Errorf("nft list tables: %w", err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n"), nil
}

// RemoveTables deletes the netfilter tables for which unwanted returns true.
func RemoveTables(unwanted func(table, family, name string) bool) error {
	tables, failed := Tables()
	for _, table := range tables {
		fields := strings.Fields(table) // table FAMILY NAME
		if len(fields) != 3 || !unwanted(table, fields[1], fields[2]) {
			continue
		}
		if out, err := exec.Command("nft", "delete", "table", fields[1], fields[2]).CombinedOutput(); err != nil {
			failed = errors.Join(failed, fmt.Errorf("nft delete %s: %w: %s", table, err, bytes.TrimSpace(out)))
		}
	}
	return failed
}
