// Package ab is `assay-load ab`: the command line and the report of ApacheBench
// (support/ab.c of Apache httpd 2.4) over Assay's load. It makes a job of the
// options and prints what was measured; package standalone drives it.
package ab

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// known are ab's options as getopt has them: a colon follows those that have an
// argument.
const known = "n:c:t:s:b:T:p:u:v:lrkVhwiIx:y:z:C:H:P:A:g:X:de:SqB:m:Z:f:E:"

const (
	mostConcurrency = 20_000
	// timedRequests is the number of requests that -t implies.
	timedRequests         = 50_000
	defaultTimeoutSeconds = 30
)

// Options are what the command line says.
type Options struct {
	URL         string
	Requests    int64 // -n
	Concurrency int   // -c
	Seconds     int   // -t, 0 for none
	Timeout     int   // -s, in seconds
	KeepAlive   bool  // -k
	AnyLength   bool  // -l
	Tolerant    bool  // -r
	Quiet       bool  // -q
	NoPercents  bool  // -d
	NoSpread    bool  // -S
	Verbosity   int   // -v
	CSV         string
	Protocol    string // -f
	Ciphers     string // -Z
	Certificate string // -E
	Host        string // -H 'Host: …'

	Method      string   // -m, -i, -p, -u
	Headers     []string // -H: whole lines
	Cookie      string   // -C
	Credentials string   // -A: user:password
	Body        string   // -p, -u: a file
	ContentType string   // -T

	HTML                                           bool   // -w, and what implies it
	TableAttributes, RowAttributes, CellAttributes string // -x, -y, -z

	Help, Version bool // -h, -V
}

// refused are options that can't be done, and why.
var refused = map[byte]string{
	'b': "the kernel chooses the size of socket buffers",
	'B': "connections are made from the address that the kernel's routes have",
	'X': "requests go to the server itself: a proxy would be what is measured", 'P': "requests go to the server itself: a proxy would be what is measured",
	'g': "single requests aren't kept, only exact counts and histograms; use -e for percentiles",
	'I': "Go's TLS sends the server's name whenever the URL has one; give an address instead",
}

// Parse reads a command line as ab does: options first, then the URL.
func Parse(arguments []string) (*Options, error) {
	o := &Options{Requests: 1, Concurrency: 1, Timeout: defaultTimeoutSeconds, CellAttributes: "bgcolor=white"}
	rest, err := options(arguments, o.set)
	switch {
	case err != nil:
		return nil, err
	case o.Help || o.Version:
		return o, nil
	case len(rest) != 1:
		return nil, fmt.Errorf("wrong number of arguments: give one URL, after all options")
	case int64(o.Concurrency) > o.Requests:
		return nil, errors.New("cannot use concurrency level greater than total number of requests")
	}
	o.URL = rest[0]
	return o, nil
}

// options calls set for each option, and returns what follows the last.
func options(arguments []string, set func(option byte, value string) error) ([]string, error) {
	for len(arguments) > 0 {
		text := arguments[0]
		if text == "--" {
			return arguments[1:], nil
		}
		if len(text) < 2 || text[0] != '-' {
			break
		}
		arguments = arguments[1:]
		for i := 1; i < len(text); i++ {
			place := strings.IndexByte(known, text[i])
			if place < 0 || text[i] == ':' {
				return nil, fmt.Errorf("there is no option -%c", text[i])
			}
			value := ""
			if strings.HasPrefix(known[place+1:], ":") {
				switch value = text[i+1:]; {
				case value != "":
				case len(arguments) == 0:
					return nil, fmt.Errorf("the option -%c needs a value", text[i])
				default:
					value, arguments = arguments[0], arguments[1:]
				}
			}
			if err := set(text[i], value); err != nil {
				return nil, fmt.Errorf("-%c: %w", text[i], err)
			}
			if value != "" {
				break
			}
		}
	}
	return arguments, nil
}

// set takes one option. What stands later wins, as with ab.
func (o *Options) set(option byte, value string) (err error) {
	if reason, is := refused[option]; is {
		return errors.New(reason)
	}
	switch option {
	case 'n':
		o.Requests, err = number(value, 1, 1_000_000_000_000)
	case 'c':
		err = set(&o.Concurrency, value, 1, mostConcurrency)
	case 't':
		o.Requests = timedRequests
		err = set(&o.Seconds, value, 1, 604_800)
	case 's':
		err = set(&o.Timeout, value, 1, 3600)
	case 'v':
		if err = set(&o.Verbosity, value, 0, 100); err == nil && o.Verbosity > 2 {
			err = errors.New("responses aren't kept to be printed: give 0, 1 or 2")
		}
	case 'k':
		o.KeepAlive = true
	case 'l':
		o.AnyLength = true
	case 'r':
		o.Tolerant = true
	case 'q':
		o.Quiet = true
	case 'd':
		o.NoPercents = true
	case 'S':
		o.NoSpread = true
	case 'e':
		o.CSV = value
	case 'w':
		o.HTML = true
	case 'x':
		o.HTML, err = true, attributes(&o.TableAttributes, value)
	case 'y':
		o.HTML, err = true, attributes(&o.RowAttributes, value)
	case 'z':
		o.HTML, err = true, attributes(&o.CellAttributes, value)
	case 'f':
		o.Protocol = value
	case 'Z':
		o.Ciphers = value
	case 'E':
		o.Certificate = value
	case 'h':
		o.Help = true
	case 'V':
		o.Version = true
	default:
		return o.setRequest(option, value)
	}
	return err
}

func set(to *int, value string, least, most int64) error {
	n, err := number(value, least, most)
	*to = int(n)
	return err
}

func number(value string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q is no number from %d to %d", value, least, most)
	}
	return n, nil
}
