package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// rowJSON is a row, and whether its figures can be trusted; left out without a
// result.
type rowJSON struct {
	Row
	Valid *bool `json:"valid,omitempty"`
}

// writeTableJSON writes the rows as a document with the array "runs".
func writeTableJSON(w io.Writer, rows []Row) error {
	document := struct {
		Runs []rowJSON `json:"runs"`
	}{Runs: []rowJSON{}}
	for i := range rows {
		r := rowJSON{Row: rows[i]}
		if r.Merged != nil {
			valid := r.valid()
			r.Valid = &valid
		}
		document.Runs = append(document.Runs, r)
	}
	encoded, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	_, err = w.Write(append(escapeUnprintable(encoded), '\n'))
	return err
}
