package doctor

import (
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/utils/ptr"
)

// TestNoRequestWaits checks that the client doesn't limit the rate of its requests: they are few.
func TestNoRequestWaits(t *testing.T) {
	flags := genericclioptions.NewConfigFlags(false)
	flags.APIServer, flags.KubeConfig, flags.Namespace = ptr.To("http://127.0.0.1:1"), ptr.To("/dev/null"), ptr.To("shop")
	e, err := newExamination(flags, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	if limiter := e.client.GetRateLimiter(); limiter != nil {
		t.Errorf("at most %v requests per second", limiter.QPS())
	}
}
