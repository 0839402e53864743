package report

import (
	"fmt"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
)

// Causes returns why requests failed, with an example of each cause; nil if that is unknown or none failed.
func Causes(r *result.Result) *doc.Table {
	t := &doc.Table{Caption: "Causes of failed requests", Columns: append(append(doc.Words("kind", "cause"), doc.Numbers("requests")...), doc.Words("first")...)}
	for kind := range result.ErrorKinds {
		for _, c := range r.Causes[kind] {
			first := ""
			if e := c.Example; e != nil {
				first = fmt.Sprintf("%s, after %s", e.Request, secondsText(e.AtMicroseconds))
				if len(r.Clients) > 1 {
					first += fmt.Sprintf(", client %d", e.Client)
				}
			}
			if c.Example != nil && c.Example.Detail != "" {
				first += ": " + c.Example.Detail
			}
			t.Rows = append(t.Rows, []string{kind.String(), c.Text, number.Count(c.Count), first})
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// failures returns why requests failed, of text reports. Pages draw the kinds with it.
func failures(r *result.Result) doc.Section {
	s := doc.Section{ID: "errors", Title: "Errors", Question: "What failed, and how?"}
	if t := Causes(r); t != nil {
		s.Add(t)
	}
	return s
}
