// Command cert-manager is cert-manager's controller, webhook and cainjector in
// one program, with the issuers that need nothing outside the cluster: CA and
// SelfSigned. All three run cert-manager's own code; what is here reads the
// flags that its Helm chart sets, and starts that code.
//
// The chart gives flags only, so the part to run may stand anywhere among them.
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

// part is one of the programs that cert-manager consists of.
type part interface {
	// addFlags makes the flags of the part known.
	addFlags(flags *pflag.FlagSet)
	// run runs the part until the context ends.
	run(ctx context.Context) error
}

func main() {
	if err := start(os.Args[1:]); err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "cert-manager:", err)
		os.Exit(1)
	}
}

func start(args []string) error {
	makers := map[string]func() (part, error){
		"controller": newController,
		"webhook":    newWebhook,
		"cainjector": newCAInjector,
	}
	at := slices.IndexFunc(args, func(arg string) bool { return makers[arg] != nil })
	if at < 0 {
		return errors.New("name the part to run: controller, webhook or cainjector")
	}
	name := args[at]
	p, err := makers[name]()
	if err != nil {
		return fmt.Errorf("set up the %s: %w", name, err)
	}
	flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
	p.addFlags(flags)
	if name != "webhook" { // the chart sets these; a test cluster has one replica of each part
		for _, flag := range []string{"namespace", "lease-duration", "renew-deadline", "retry-period"} {
			_ = flags.String("leader-election-"+flag, "", "Accepted and ignored: there is no leader election here.")
		}
	}
	if err := flags.Parse(slices.Delete(slices.Clone(args), at, at+1)); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%s: what is %s?", name, strings.Join(flags.Args(), " "))
	}
	logf.InitLogs()
	defer logf.FlushLogs()
	ctrl.SetLogger(klog.Background())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return p.run(logf.NewContext(ctx, logf.Log, name))
}
