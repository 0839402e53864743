package report

// column is a column of a table of T for other programs. What is unknown is empty.
type column[T any] struct {
	name string
	of   func(row *T) string
}

// records returns a record for each row under one with the names of the columns.
func records[T any](columns []column[T], rows []T) [][]string {
	all := make([][]string, 1+len(rows))
	for _, c := range columns {
		all[0] = append(all[0], c.name)
	}
	for i := range rows {
		for _, c := range columns {
			all[1+i] = append(all[1+i], c.of(&rows[i]))
		}
	}
	return all
}
