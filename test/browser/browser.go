// Package browser opens the pages of reports in Chromium and checks what only a browser knows: that a page loads nothing
// from elsewhere, that no text lies over another one, that all of it can be reached by keyboard.
package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// programs are the names under which Chromium is installed.
var programs = []string{"chromium", "chromium-browser", "google-chrome"}

// pageTimeout bounds what is done with one page: a browser that hangs ends the test.
const pageTimeout = 5 * time.Minute

// Browser is a running Chromium.
type Browser struct {
	ctx context.Context
}

// Start starts Chromium and returns it with a function that ends it.
func Start(ctx context.Context) (*Browser, func(), error) {
	program := ""
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		return nil, nil, fmt.Errorf("none of %s found: run hack/install-deps.sh browser", strings.Join(programs, ", "))
	}
	directory, err := os.MkdirTemp("", "assay-browser-") // for the files that Chromium leaves behind
	if err != nil {
		return nil, nil, err
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(program), chromedp.NoSandbox, // the pages are the project's own, and tests may run as root
		chromedp.Flag("hide-scrollbars", true), chromedp.Env("TMPDIR="+directory))
	allocator, endAllocator := chromedp.NewExecAllocator(ctx, options...)
	browser, endBrowser := chromedp.NewContext(allocator)
	end := func() { endBrowser(); endAllocator(); _ = os.RemoveAll(directory) }
	if err := chromedp.Do(browser); err != nil {
		end()
		return nil, nil, fmt.Errorf("start %s: %w", program, err)
	}
	return &Browser{browser}, end, nil
}

// Tab is an open page.
type Tab struct {
	ctx context.Context

	mu       sync.Mutex
	messages []string
	requests []string
}

// Open opens a file as a page in a tab of its own, with scripts or without. The function that it returns closes it.
func (b *Browser) Open(file string, scripts bool) (*Tab, func(), error) {
	return b.OpenURL((&url.URL{Scheme: "file", Path: file}).String(), scripts)
}

// OpenURL is like Open for the page of an address.
func (b *Browser) OpenURL(address string, scripts bool) (*Tab, func(), error) {
	ctx, closeTab := chromedp.NewContext(b.ctx)
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	end := func() { cancel(); closeTab() }
	t := &Tab{ctx: ctx}
	err := errors.Join(chromedp.Listen(ctx, t.record),
		call(ctx, runtime.Enable, cdp.Empty{}), call(ctx, log.Enable, cdp.Empty{}), call(ctx, network.Enable, network.EnableParams{}),
		// Each of several tabs is to have the focus of the keyboard.
		call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}),
		call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts}),
		chromedp.Do(ctx, chromedp.Navigate(address)))
	if err != nil {
		end()
		return nil, nil, fmt.Errorf("open %s: %w", address, err)
	}
	return t, end, nil
}

// Navigate opens another page in the tab.
func (t *Tab) Navigate(address string) error { return chromedp.Do(t.ctx, chromedp.Navigate(address)) }

// call runs a command of the browser's protocol whose result doesn't matter.
func call[P, R any](ctx context.Context, command cdp.Command[P, R], parameters P) error {
	_, err := chromedp.Call(ctx, command, parameters)
	return err
}

// record records what a page says and asks for.
func (t *Tab) record(event any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		texts := []string{string(e.Type)}
		for _, argument := range e.Args {
			texts = append(texts, string(argument.Value))
		}
		t.messages = append(t.messages, "console: "+strings.Join(texts, " "))
	case *runtime.EventExceptionThrown:
		t.messages = append(t.messages, "exception: "+(&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *log.EventEntryAdded:
		t.messages = append(t.messages, "browser: "+e.Entry.Text)
	case *network.EventRequestWillBeSent:
		t.requests = append(t.requests, e.Request.URL)
	}
}

// Messages returns all that page and browser wrote to the console: a page has no reason to write anything.
func (t *Tab) Messages() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.messages)
}

// Foreign returns the addresses that were asked for, other than the page's own: those that begin with one of own.
func (t *Tab) Foreign(own ...string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(t.requests), func(address string) bool {
		isOwn := func(prefix string) bool { return strings.HasPrefix(address, prefix) }
		return slices.ContainsFunc(own, isOwn) || strings.HasPrefix(address, "file:") || strings.HasPrefix(address, "data:") || strings.HasPrefix(address, "blob:")
	})
}

// View is how a page is looked at.
type View struct {
	Width        int64
	Dark         bool
	ForcedColors bool
	// Print is how it is printed.
	Print bool
}

// String names the view in messages and files.
func (v View) String() string {
	theme := "light"
	if v.Dark {
		theme = "dark"
	}
	if v.ForcedColors {
		theme += ", forced colors"
	}
	if v.Print {
		theme += ", printed"
	}
	return fmt.Sprintf("%d px, %s", v.Width, theme)
}

// Look changes how the page is looked at.
func (t *Tab) Look(v View) error {
	scheme, forced, media := "light", "none", "screen"
	if v.Dark {
		scheme = "dark"
	}
	if v.ForcedColors {
		forced = "active"
	}
	if v.Print {
		media = "print"
	}
	const height = 900
	return errors.Join(
		call(t.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: v.Width, Height: height, DeviceScaleFactor: 1, Mobile: v.Width < 600,
		}),
		call(t.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: media, Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "forced-colors", Value: forced},
		}}))
}

// File names the view in the names of files.
func (v View) File() string {
	if v.Dark {
		return fmt.Sprintf("%d-dark", v.Width)
	}
	return strconv.FormatInt(v.Width, 10)
}

// Evaluate evaluates an expression in JavaScript, and waits for it if it is a promise.
func Evaluate[T any](t *Tab, expression string) (T, error) {
	return chromedp.Run(t.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Press presses keys as a user does.
func (t *Tab) Press(keys string) error { return chromedp.Do(t.ctx, chromedp.KeyEvent(keys)) }

// Write writes a page to a file of that name in a directory and returns the file's path.
func Write(directory, name string, write func(f *os.File) error) (string, error) {
	path := filepath.Join(directory, name+".html")
	file, err := os.Create(path)
	if err != nil {
		return "", err
	}
	return path, errors.Join(write(file), file.Close())
}
