package initialize

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// prompt asks questions on a terminal.
type prompt struct {
	in  *bufio.Reader
	out io.Writer
	// ended reports whether the answers ended early, which is said once.
	ended bool
}

func newPrompt(in io.Reader, out io.Writer) *prompt {
	return &prompt{in: bufio.NewReader(in), out: out}
}

// ask sets value to the answer to a question, until check accepts it. An empty answer keeps the value. The error is that
// of the terminal, such as one that was closed.
func (p *prompt) ask(question string, value pflag.Value, check func() error) error {
	for !p.ended {
		if _, err := fmt.Fprintf(p.out, "%s [%s]: ", question, value); err != nil {
			return err
		}
		line, err := p.in.ReadString('\n')
		if err != nil {
			p.ended = true
			return errors.Join(errors.New("the answers ended early"), err)
		}
		if answer := strings.TrimSpace(line); answer != "" {
			err = value.Set(answer)
		}
		if err == nil {
			err = check()
		}
		if err == nil {
			return nil
		}
		if _, err := fmt.Fprintf(p.out, "  %v\n", err); err != nil {
			return err
		}
	}
	return nil
}
