package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	config "github.com/cert-manager/cert-manager/internal/apis/config/webhook"
	"github.com/cert-manager/cert-manager/internal/webhook"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/webhook/options"
)

// admission validates and defaults cert-manager's resources. It issues its serving certificate from
// a CA that it keeps in a Secret.
type admission struct {
	config *config.WebhookConfiguration
}

func newWebhook() (component, error) {
	c, err := options.NewWebhookConfiguration()
	return &admission{config: c}, err
}

func (a *admission) addFlags(flags *pflag.FlagSet) { options.AddConfigFlags(flags, a.config) }

func (a *admission) run(ctx context.Context) error {
	if err := logf.ValidateAndApply(&a.config.Logging); err != nil {
		return fmt.Errorf("set up logging: %w", err)
	}
	server, err := webhook.NewCertManagerWebhookServer(logf.FromContext(ctx), *a.config)
	if err != nil {
		return fmt.Errorf("set up the webhook: %w", err)
	}
	return server.Run(ctx)
}
