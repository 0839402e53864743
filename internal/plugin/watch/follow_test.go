package watch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

type notes struct{ texts []string }

func (n *notes) show(view)        {}
func (n *notes) note(text string) { n.texts = append(n.texts, text) }
func (n *notes) close()           {}

// TestReconnectTimeout checks that watch gives up an API server that has answered
// once after reconnectTimeout, and not before.
func TestReconnectTimeout(t *testing.T) { synctest.Test(t, testReconnectTimeout) }

func testReconnectTimeout(t *testing.T) {
	scheme, err := cluster.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("connection refused")
	lists := 0
	c := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
			lists++
			if lists > 1 {
				return refused
			}
			run := v1alpha1.BenchmarkRun{}
			run.Name = "tomcat"
			list.(*v1alpha1.BenchmarkRunList).Items = []v1alpha1.BenchmarkRun{run}
			return nil
		},
	}).Build()
	shown := &notes{}
	f := &follower{
		subject: runs,
		client:  failingWatch{c, refused}, key: types.NamespacedName{Namespace: "default", Name: "tomcat"},
		display: shown,
	}
	began := time.Now()
	_, err = f.untilFinished(context.Background())
	var coded *exit.Error
	if !errors.As(err, &coded) || coded.Code != exit.Unknown || !errors.Is(err, refused) {
		t.Errorf("error %v, want exit code %d for the refused connection", err, exit.Unknown)
	}
	if waited := time.Since(began); waited < reconnectTimeout || waited > reconnectTimeout+2*retryInterval || lists < 3 {
		t.Errorf("gave up after %s and %d attempts, want %s", waited, lists, reconnectTimeout)
	}
	if len(shown.texts) != 1 || !strings.Contains(shown.texts[0], "lost contact with the API server") {
		t.Errorf("notes %q, want one about the lost contact", shown.texts)
	}
}

type failingWatch struct {
	client.WithWatch
	err error
}

func (f failingWatch) Watch(context.Context, client.ObjectList, ...client.ListOption) (w watch.Interface, err error) {
	return nil, f.err
}
