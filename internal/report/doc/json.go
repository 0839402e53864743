package doc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
)

// WriteJSON writes a value as indented JSON that terminals only show.
func WriteJSON(w io.Writer, value any) error {
	encoded, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	_, err = w.Write(append(escapeUnprintable(encoded), '\n'))
	return err
}

// escapeUnprintable escapes characters that JSON allows in strings but that a
// terminal might obey. The document's meaning doesn't change.
func escapeUnprintable(document []byte) []byte {
	var out bytes.Buffer
	for _, r := range string(document) {
		if r == '\n' || r > 0xffff || unicode.IsPrint(r) {
			out.WriteRune(r)
			continue
		}
		fmt.Fprintf(&out, `\u%04x`, r)
	}
	return out.Bytes()
}
