// Package ab implements `assay-load ab`: the command line and the report of
// ApacheBench (support/ab.c of Apache httpd 2.4). It turns the options into a
// standalone.Job and prints the job's result. Package standalone runs the job.
package ab

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// known lists ab's options in getopt's notation: a colon follows each option that has a value.
const known = "n:c:t:s:b:T:p:u:v:lrkVhwiIx:y:z:C:H:P:A:g:X:de:SqB:m:Z:f:E:"

const (
	maxConcurrency = 20_000
	// timedRequests is the number of requests that -t implies.
	timedRequests         = 50_000
	defaultTimeoutSeconds = 30
)

// Options holds the options of the command line.
type Options struct {
	URL         string
	Requests    int64 // -n
	Concurrency int   // -c
	Seconds     int   // -t, or 0 for no time limit
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
	Headers     []string // -H: 'Name: value'
	Cookie      string   // -C
	Credentials string   // -A: user:password
	Body        string   // -p, -u: path of a file
	ContentType string   // -T

	Help, Version bool // -h, -V
}

// unsupported maps each option of ab that assay-load doesn't support to the reason.
var unsupported = map[byte]string{
	'b': "not supported: the kernel chooses the size of socket buffers",
	'B': "not supported: the kernel chooses the local address of connections",
	'X': proxyUnsupported, 'P': proxyUnsupported,
	'w': htmlUnsupported, 'x': htmlUnsupported, 'y': htmlUnsupported, 'z': htmlUnsupported,
	'g': "not supported: single requests aren't recorded, only exact counts and histograms. Use -e for percentiles",
	'I': "not supported: Go's TLS sends SNI whenever the URL has a host name. Use an IP address in the URL to send none",
}

const (
	proxyUnsupported = "not supported: with a proxy, the proxy would be measured instead of the server"
	htmlUnsupported  = "not supported: the report is text"
)

// Parse parses a command line as ab does: options first, then one URL.
func Parse(arguments []string) (*Options, error) {
	o := &Options{Requests: 1, Concurrency: 1, Timeout: defaultTimeoutSeconds}
	rest, err := parseOptions(arguments, o.set)
	switch {
	case err != nil:
		return nil, err
	case o.Help || o.Version:
		return o, nil
	case len(rest) != 1:
		return nil, errors.New("wrong number of arguments: specify one URL, after all options")
	case int64(o.Concurrency) > o.Requests:
		return nil, errors.New("cannot use concurrency level greater than total number of requests")
	}
	o.URL = rest[0]
	return o, nil
}

// parseOptions calls set for each option and returns the arguments after the last one.
func parseOptions(arguments []string, set func(option byte, value string) error) ([]string, error) {
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
				return nil, fmt.Errorf("unknown option -%c", text[i])
			}
			value := ""
			if strings.HasPrefix(known[place+1:], ":") {
				switch value = text[i+1:]; {
				case value != "":
				case len(arguments) == 0:
					return nil, fmt.Errorf("option -%c needs a value", text[i])
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

// set sets one option. As with ab, a later value replaces an earlier one.
func (o *Options) set(option byte, value string) (err error) {
	if reason, is := unsupported[option]; is {
		return errors.New(reason)
	}
	if flag := o.flags()[option]; flag != nil {
		*flag = true
		return nil
	}
	if text := o.texts()[option]; text != nil {
		*text = value
		return nil
	}
	switch option {
	case 'n':
		o.Requests, err = parseNumber(value, 1, 1_000_000_000_000)
	case 'c':
		err = setNumber(&o.Concurrency, value, 1, maxConcurrency)
	case 't':
		o.Requests = timedRequests
		err = setNumber(&o.Seconds, value, 1, 604_800)
	case 's':
		err = setNumber(&o.Timeout, value, 1, 3600)
	case 'v':
		if err = setNumber(&o.Verbosity, value, 0, 100); err == nil && o.Verbosity > 2 {
			err = errors.New("must be 0, 1 or 2: responses aren't recorded, so they can't be printed")
		}
	default:
		return o.setRequest(option, value)
	}
	return err
}

// flags returns the fields of the options without a value.
func (o *Options) flags() map[byte]*bool {
	return map[byte]*bool{
		'k': &o.KeepAlive, 'l': &o.AnyLength, 'r': &o.Tolerant, 'q': &o.Quiet, 'd': &o.NoPercents, 'S': &o.NoSpread,
		'h': &o.Help, 'V': &o.Version,
	}
}

// texts returns the fields of the options whose value needs no check.
func (o *Options) texts() map[byte]*string {
	return map[byte]*string{'e': &o.CSV, 'f': &o.Protocol, 'Z': &o.Ciphers, 'E': &o.Certificate, 'T': &o.ContentType}
}

func setNumber(to *int, value string, minimum, maximum int64) error {
	n, err := parseNumber(value, minimum, maximum)
	*to = int(n)
	return err
}

func parseNumber(value string, minimum, maximum int64) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < minimum || n > maximum {
		return 0, fmt.Errorf("%q must be a whole number from %d to %d", value, minimum, maximum)
	}
	return n, nil
}
