package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"github.com/assay-dev/assay/internal/load/command"
	"github.com/assay-dev/assay/internal/load/planfile"
	"github.com/assay-dev/assay/internal/session"
)

// urlOptions are the flags of a load that is a URL.
type urlOptions struct {
	command.RunOptions
	connections, requests int64
	duration, warmup      string
	rate                  string
	headers               []string
	method, data          string
	insecure              bool
	// secrets are headers with credentials, which reports must not show.
	secrets []session.Header
}

func (o *urlOptions) addFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.Int64VarP(&o.connections, "connections", "c", 10, "concurrent connections; with --rate at most as many (default 1000)")
	flags.StringVarP(&o.duration, "duration", "d", "10s", "time in which requests start, in whole seconds, such as 30s or 2m")
	flags.Int64VarP(&o.requests, "requests", "n", 0, "number of requests, instead of a duration")
	flags.StringVar(&o.rate, "rate", "", "requests per second, such as 100 or 0.5, whatever the responses (open model); default: each connection sends its next request after a response")
	flags.StringVar(&o.warmup, "warmup", "", "time for which requests are sent before the measurement, such as 5s (default: none)")
	flags.StringArrayVarP(&o.headers, "header", "H", nil, "header, as 'Name: value'; can be repeated")
	flags.StringVarP(&o.method, "request", "X", "", "method (default GET, with --data POST)")
	flags.StringVar(&o.data, "data", "", "body of the requests")
	flags.BoolVarP(&o.insecure, "insecure", "k", false, "accept any certificate of the server")
	o.AddOutput(c)
}

// runURL measures a URL.
func runURL(ctx context.Context, c *cobra.Command, text string, o *urlOptions) error {
	usage := func(err error) error { return &command.Error{Code: command.ExitUsage, Err: err} }
	u, err := parseURL(text)
	if err != nil {
		return usage(err)
	}
	if err := o.Check(""); err != nil {
		return usage(err)
	}
	set := c.Flags().Changed
	plan, err := o.plan(u, set("connections"), set("duration"), set("requests"))
	if err != nil {
		return usage(err)
	}
	data, err := yaml.Marshal(plan)
	if err != nil {
		return err
	}
	job, err := planfile.Read(data, u.Host, ".")
	if err != nil { // the user has written no lines
		return usage(errors.New(lineNumbers.ReplaceAllString(err.Error(), "")))
	}
	job.Advice = strings.NewReplacer("set tls.verification to None", "use -k", "set tls.certificateAuthorityFile to the CA's certificate, or use -k",
		"use -k, or run a plan with tls.certificateAuthorityFile", "tls.clientCertificateFile", "tls.clientCertificateFile of a plan", "change tls.", "run a plan with other tls.")
	job.Plan.Requests[0].Headers = append(job.Plan.Requests[0].Headers, o.secrets...)
	job.Version = version
	return o.RunJob(ctx, job, u.Host, true)
}

var lineNumbers = regexp.MustCompile(`(?m)^line [0-9]+: `)

// parseURL returns a URL without its fragment, which no request has.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case strings.HasPrefix(text, "unix:") || err == nil && strings.HasSuffix(u.Scheme, "+unix"):
		return nil, fmt.Errorf("%q: Unix sockets are not supported: use a URL with a host and a port", text)
	case !strings.Contains(text, "://"):
		return nil, fmt.Errorf("%q has no scheme: use http://%[2]s or https://%[2]s", text, text)
	case err != nil:
		return nil, err
	case u.User != nil:
		return nil, fmt.Errorf("the URL must not have credentials: use -H 'Authorization: Basic …', or credentialsDirectory of a plan")
	}
	u.Fragment = ""
	return u, nil
}

// plan returns the load as a plan. The arguments say which flags were set.
func (o *urlOptions) plan(u *url.URL, connections, duration, requests bool) (map[string]any, error) {
	request := map[string]any{"path": u.RequestURI()}
	method := o.method
	if o.data != "" {
		request["body"] = map[string]any{"text": o.data}
		if method == "" {
			method = "POST"
		}
	}
	if method != "" {
		request["method"] = strings.ToUpper(method)
	}
	host := ""
	var headers []map[string]string
	for _, header := range o.headers {
		name, value, ok := strings.Cut(header, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, fmt.Errorf("-H: %q must be of the form 'Name: value'", header)
		}
		value = strings.TrimSpace(value)
		switch strings.ToLower(name) {
		case "host":
			host = value
		case "authorization", "cookie":
			if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
				return nil, fmt.Errorf("-H: the value of %s must have printable ASCII characters only", name)
			}
			o.secrets = append(o.secrets, session.Header{Name: name, Value: value})
		default:
			headers = append(headers, map[string]string{"name": name, "value": value})
		}
	}
	if headers != nil {
		request["headers"] = headers
	}
	shape, kind := map[string]any{}, "closed"
	if o.rate != "" {
		rate, err := strconv.ParseFloat(o.rate, 64)
		if err != nil || strings.ContainsAny(o.rate, "eEpPxX_") || rate < 0.001 || rate > 100_000 {
			return nil, fmt.Errorf("--rate: %q must be a number of requests per second from 0.001 to 100000, such as 100 or 0.5", o.rate)
		}
		kind, shape["requestsPerSecond"] = "open", rate
	}
	if o.connections < 1 || o.connections > 20_000 {
		return nil, fmt.Errorf("-c: %d must be from 1 to 20000", o.connections)
	}
	switch {
	case kind == "closed":
		shape["connections"] = o.connections
	case connections:
		shape["maxConnections"] = o.connections
	}
	switch {
	case requests && duration:
		return nil, errors.New("-n and -d must not be set together: a load has a number of requests or a duration")
	case requests && o.requests < 1:
		return nil, fmt.Errorf("-n: %d must be at least 1", o.requests)
	case requests && kind == "closed" && o.requests < o.connections:
		if connections {
			return nil, fmt.Errorf("-n: %d must be at least -c, which is %d, so that each connection makes a request", o.requests, o.connections)
		}
		shape["connections"] = o.requests
		fallthrough
	case requests:
		shape["requestCount"] = o.requests
	default:
		n, err := wholeSeconds("-d", o.duration)
		if err != nil {
			return nil, err
		}
		shape["durationSeconds"] = n
	}
	load := map[string]any{"requests": []any{request}, kind: shape}
	if o.warmup != "" {
		n, err := wholeSeconds("--warmup", o.warmup)
		if err != nil {
			return nil, err
		}
		load["warmup"] = map[string]any{"durationSeconds": n}
	}
	plan := map[string]any{"url": u.Scheme + "://" + u.Host, "load": load}
	if host != "" {
		plan["host"] = host
	}
	if o.insecure {
		if u.Scheme != "https" {
			return nil, errors.New("-k is for URLs that begin with https: connections are kept anyway")
		}
		plan["tls"] = map[string]any{"verification": "None"}
	}
	return plan, nil
}

// wholeSeconds returns a duration such as 30s or, as a plain number, 30 in seconds.
func wholeSeconds(flag, text string) (int64, error) {
	if rest, is := strings.CutPrefix(text, "uration"); is && flag == "-d" {
		return 0, fmt.Errorf("-duration%s: write --duration%[1]s, with two hyphens", rest)
	}
	if _, err := strconv.Atoi(text); err == nil {
		text += "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second || d%time.Second != 0 {
		return 0, fmt.Errorf("%s: %q must be a duration of whole seconds, at least 1s, such as 30s or 2m", flag, text)
	}
	return int64(d / time.Second), nil
}
