package doc

// Table has columns of words or of numbers.
type Table struct {
	// Caption names the table in pages.
	Caption string
	Columns []Column
	Rows    [][]string
	// Droppable are names of columns that a narrow terminal can do without, the first to drop first.
	Droppable []string
}

// Column is a column of a table. Numbers are aligned to the right, words to the left.
type Column struct {
	Name   string
	Number bool
}

// Words returns columns of words.
func Words(names ...string) []Column { return columns(false, names) }

// Numbers returns columns of numbers.
func Numbers(names ...string) []Column { return columns(true, names) }

func columns(number bool, names []string) []Column {
	all := make([]Column, len(names))
	for i, name := range names {
		all[i] = Column{name, number}
	}
	return all
}

// Field is a column of a table of Ts: its name, and what it has of each.
type Field[T any] struct {
	Name string
	Of   func(*T) string
	// Word reports whether the column has words, and not numbers.
	Word bool
}

// Word returns a column of words.
func Word[T any](name string, of func(*T) string) Field[T] { return Field[T]{name, of, true} }

// Number returns a column of numbers.
func Number[T any](name string, of func(*T) string) Field[T] { return Field[T]{name, of, false} }

// TableOf returns a table with a row for each of rows.
func TableOf[T any](caption string, rows []T, fields ...Field[T]) *Table {
	t := &Table{Caption: caption}
	for _, f := range fields {
		t.Columns = append(t.Columns, Column{f.Name, !f.Word})
	}
	for i := range rows {
		t.Rows = append(t.Rows, record(&rows[i], fields))
	}
	return t
}

// Records returns a record for each of rows under one with the names of the columns, as WriteCSV takes them.
func Records[T any](rows []T, fields ...Field[T]) [][]string {
	all := make([][]string, 1, 1+len(rows))
	for _, f := range fields {
		all[0] = append(all[0], f.Name)
	}
	for i := range rows {
		all = append(all, record(&rows[i], fields))
	}
	return all
}

func record[T any](row *T, fields []Field[T]) []string {
	cells := make([]string, len(fields))
	for i, f := range fields {
		cells[i] = f.Of(row)
	}
	return cells
}
