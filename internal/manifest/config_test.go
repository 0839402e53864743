package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/test/wrapper"
)

func TestRenderingSurvivesTheConfigMap(t *testing.T) {
	run := fullTarget()
	rendering, err := server.Render(&run.Spec.Target, nil)
	if err != nil {
		t.Fatal(err)
	}
	config, err := ConfigMap(run, rendering, &Inputs{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadRendering(config)
	rendering.Files = nil
	if diff := cmp.Diff(rendering, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := ReadRendering(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "run-config"}}); err == nil || !strings.Contains(err.Error(), "run-config") {
		t.Errorf("without it: %v", err)
	}
}

func TestContentListHasNoSourceForWhatIsGenerated(t *testing.T) {
	run := wrapper.NewRun("ns", "run", "image").Content("/a.html", 10).Obj()
	list, copied, err := contentList(run, &Inputs{})
	if err != nil || len(copied) != 0 || string(list) != `[{"path":"/a.html","sizeBytes":10}]` {
		t.Errorf("%s %v %v", list, copied, err)
	}
}
