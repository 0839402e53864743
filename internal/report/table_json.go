package report

import "io"

// rowJSON is a row, and whether its result is valid; omitted without a result.
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
	return writeIndented(w, document)
}
