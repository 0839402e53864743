// Command cert-manager is cert-manager's controller, webhook and cainjector in one program, with the
// issuers that work without external services: CA and SelfSigned. It parses the flags that
// cert-manager's Helm chart sets and runs cert-manager's own code.
//
// The name of the component to run may precede or follow the flags, which the chart sets.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	logf "github.com/cert-manager/cert-manager/pkg/logs"
)

// component is one of the programs of cert-manager.
type component interface {
	// addFlags defines the component's flags.
	addFlags(flags *pflag.FlagSet)
	// run runs the component until ctx is done.
	run(ctx context.Context) error
}

func main() {
	if err := start(os.Args[1:]); err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "cert-manager:", err)
		os.Exit(1)
	}
}

func start(args []string) error {
	makers := map[string]func() (component, error){
		"controller": newController,
		"webhook":    newWebhook,
		"cainjector": newCAInjector,
	}
	at := slices.IndexFunc(args, func(arg string) bool { return makers[arg] != nil })
	if at < 0 {
		return errors.New("specify the component to run: controller, webhook or cainjector")
	}
	name := args[at]
	c, err := makers[name]()
	if err != nil {
		return fmt.Errorf("set up the %s: %w", name, err)
	}
	flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
	c.addFlags(flags)
	if name != "webhook" { // the chart sets these; a test cluster has one replica of each component
		for _, flag := range []string{"namespace", "lease-duration", "renew-deadline", "retry-period"} {
			_ = flags.String("leader-election-"+flag, "", "Ignored: leader election is disabled.")
		}
	}
	if err := flags.Parse(slices.Delete(slices.Clone(args), at, at+1)); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%s: unexpected arguments: %s", name, strings.Join(flags.Args(), " "))
	}
	logf.InitLogs()
	defer logf.FlushLogs()
	ctrl.SetLogger(klog.Background())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return c.run(logf.NewContext(ctx, logf.Log, name))
}
