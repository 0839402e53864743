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

// TestPatienceEnds: an API server that answered once and never again is given
// up when patience is over, not before.
func TestPatienceEnds(t *testing.T) { synctest.Test(t, patienceEnds) }

func patienceEnds(t *testing.T) {
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
		client: failingWatch{c, refused}, key: types.NamespacedName{Namespace: "default", Name: "tomcat"},
		patience: 5 * time.Minute, pause: 2 * time.Second, display: shown,
	}
	began := time.Now()
	_, err = f.untilFinished(context.Background())
	var carried *exit.Error
	if !errors.As(err, &carried) || carried.Code != exit.Unknown || !errors.Is(err, refused) {
		t.Errorf("error %v, want exit code %d for the refused connection", err, exit.Unknown)
	}
	if waited := time.Since(began); waited < f.patience || waited > f.patience+2*f.pause || lists < 3 {
		t.Errorf("given up after %s and %d attempts, with a patience of %s", waited, lists, f.patience)
	}
	if len(shown.texts) != 1 || !strings.Contains(shown.texts[0], "lost the API server") {
		t.Errorf("notes %q, want one on the loss", shown.texts)
	}
}

type failingWatch struct {
	client.WithWatch
	err error
}

func (f failingWatch) Watch(context.Context, client.ObjectList, ...client.ListOption) (w watch.Interface, err error) {
	return nil, f.err
}
