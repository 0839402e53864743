package script

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// summaryTimeout limits handleSummary(), with the initialization of its script.
	summaryTimeout = 30 * time.Second
	// summaryFile is the name of the file with what handleSummary() returned, in the work directory.
	summaryFile = "summary.json"
	// summaryBegins is what summary.js logs before it calls handleSummary().
	summaryBegins = "assay: handleSummary() begins"
	// maxSummaryOutput bounds that file, in bytes.
	maxSummaryOutput = 32 << 20
)

//go:embed summary.js
var summaryScript string

// exportsSummary matches a script that may export handleSummary(): an export has its name, unless all names of another
// module, or those of CommonJS, are exported.
var exportsSummary = regexp.MustCompile(`handleSummary|export\s*\*|exports`)

// mayExportSummary reports whether the script may define handleSummary(). Only k6 knows whether it does.
func (c *Client) mayExportSummary() bool {
	source, err := os.ReadFile(filepath.Join(c.scriptDirectory, c.plan.Script.File))
	return err == nil && exportsSummary.Match(source)
}

// summarize runs the script's handleSummary() with the given data and sends what it returned.
func (c *Client) summarize(ctx context.Context, data []byte) {
	c.loop.Background(ctx, func() func() error {
		summary, err := c.handleSummary(ctx, data)
		if err != nil {
			summary = &result.ScriptSummary{Error: c.clipped(err.Error())}
		}
		return func() error {
			c.log.Info("Completed handleSummary()", "files", len(summary.Files), "error", summary.Error)
			c.session.SendSummary(summary)
			return nil
		}
	})
}

// handleSummary runs k6 with a script of its own, which imports the user's and calls its handleSummary(). k6 itself would
// call it with the metrics of one client, and would have to keep all samples.
func (c *Client) handleSummary(ctx context.Context, data []byte) (*result.ScriptSummary, error) {
	directory, file := filepath.Split(filepath.Join(c.scriptDirectory, c.plan.Script.File))
	path := filepath.Join(c.workDirectory, summaryFile)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	env := c.environment()
	secrets := secretsIn(env, c.plan.Script.Secrets)
	for name := range env { // options of k6 that would make a load
		if strings.HasPrefix(name, "K6_") && !slices.Contains(summaryVariables, name) {
			delete(env, name)
		}
	}
	k6 := newProcess(c.program, directory, env, secrets, c.log,
		"run", "-", "--config", filepath.Join(c.workDirectory, configurationFile), "--address", "",
		"--no-thresholds", "--summary-mode=compact", "--no-usage-report", "--quiet", "--no-color")
	k6.logsFrom = summaryBegins // what the initialization logs was logged before
	k6.command.Stdin = strings.NewReader(summarySource(filepath.Join(directory, file), path, data))
	ctx, cancel := context.WithTimeout(ctx, summaryTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { k6.signal(os.Kill) })
	defer stop()
	status, err := k6.run()
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("handleSummary() did not end within %s", summaryTimeout)
	case err != nil:
		return nil, err
	}
	output, err := readLimited(path, maxSummaryOutput)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("handleSummary() failed (exit code %d): %s", status.code, cmp.Or(status.message, "k6 logged no error"))
	case err != nil:
		return nil, err
	}
	return parseSummary(output, k6.redact)
}

// summaryVariables are the variables for k6 that handleSummary() may depend on.
var summaryVariables = []string{"K6_NO_USAGE_REPORT", "K6_AUTO_EXTENSION_RESOLUTION", "K6_INSECURE_SKIP_TLS_VERIFY"}

// summarySource returns the source of summary.js for a script, the path of its output, and the data.
func summarySource(script, output string, data []byte) string {
	quoted := func(text string) string {
		encoded, err := json.Marshal(text)
		if err != nil {
			panic(err) // cannot happen: a string
		}
		return string(encoded)
	}
	return strings.NewReplacer(
		"SCRIPT;", quoted(script)+";", "[OUTPUT]", "["+quoted(output)+"]", "LIMIT)", fmt.Sprint(4*result.MaxSummaryBytes)+")",
		"BEGINS)", quoted(summaryBegins)+")",
		"JSON.parse(DATA)", "JSON.parse("+quoted(string(data))+")",
	).Replace(summaryScript)
}

// readLimited reads a file of at most limit bytes.
func readLimited(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("handleSummary() returned more than %d bytes", limit)
	}
	return data, err
}

// parseSummary returns what summary.js wrote. redact removes secrets from texts.
func parseSummary(output []byte, redact func(string) string) (*result.ScriptSummary, error) {
	var returned struct {
		None  bool `json:"none"`
		Files []struct {
			Name string  `json:"name"`
			Text *string `json:"text"`
			Data []byte  `json:"data"`
			Size int64   `json:"size"`
		} `json:"files"`
	}
	if err := json.Unmarshal(output, &returned); err != nil {
		return nil, fmt.Errorf("read what handleSummary() returned: %w", err)
	}
	summary := &result.ScriptSummary{None: returned.None}
	for _, f := range returned.Files {
		name := redact(f.Name)
		switch {
		case f.Size > 0:
			summary.AddOmitted(name, f.Size)
		case f.Text != nil:
			summary.AddFile(name, []byte(redact(*f.Text)))
		default:
			summary.AddFile(name, []byte(redact(string(f.Data))))
		}
	}
	return summary, nil
}
