package run

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
)

// TestStepsAreBounded doubles what users declare, up to the most that the API server accepts: the step of a run must
// not take more than about twice the allocations then, and never more than a worker has.
func TestStepsAreBounded(t *testing.T) {
	const most = 96 << 20 // bytes of one step, all that it allocates together
	starting := func(s *scene, configs ...*corev1.ConfigMap) *scene {
		s.o.Sessions, s.o.Clients = session.Observation{}, nil
		s.o.Config, s.o.Target, s.o.Job, s.o.Inputs = nil, nil, nil, map[string]*corev1.ConfigMap{}
		for _, c := range configs {
			s.o.Inputs[c.Name] = c
		}
		return s
	}
	scriptOf := func(directories, keys int) *scene {
		s := scripted()
		for i := range directories {
			s.run.Spec.Script.Directories = append(s.run.Spec.Script.Directories, v1alpha1.ScriptDirectory{Path: fmt.Sprint("d", i), ConfigMapName: "shop"})
		}
		return starting(s, withKeys("shop", keys))
	}
	for name, test := range map[string]struct {
		most   int
		reason string // of the state after the step
		scene  func(n int) *scene
	}{
		"files of a script":                 {999, v1alpha1.ReasonStarting, func(n int) *scene { return scriptOf(0, n) }},
		"keys of a script's ConfigMap":      {120_000, v1alpha1.ReasonInvalidSpec, func(n int) *scene { return scriptOf(0, n) }},
		"sources of a script, all the same": {16, v1alpha1.ReasonInvalidSpec, func(n int) *scene { return scriptOf(n, 60_000) }},
		"directories of a script, each deep": {16, v1alpha1.ReasonStarting, func(n int) *scene {
			s := scriptOf(n, 50)
			for i := range s.run.Spec.Script.Directories {
				s.run.Spec.Script.Directories[i].Path += strings.Repeat("/d", 148)
			}
			return s
		}},
		"content of one large file": {128, v1alpha1.ReasonInvalidSpec, func(n int) *scene {
			s := newScene()
			for i := range n {
				s.run.Spec.Target.Content = append(s.run.Spec.Target.Content, v1alpha1.ContentFile{
					Path: fmt.Sprint("/", i), ConfigMapKeyRef: &v1alpha1.ConfigMapKeyReference{Name: "files", Key: "k"},
				})
			}
			files := withKeys("files", 50_000)
			files.BinaryData = map[string][]byte{"k": make([]byte, 900_000)}
			return starting(s, files)
		}},
		"keys of a configuration": {120_000, v1alpha1.ReasonInvalidSpec, func(n int) *scene {
			s := newScene()
			s.run.Spec.Target.Server = v1alpha1.Server{Nginx: &v1alpha1.NginxServer{Configuration: &v1alpha1.Configuration{ConfigMapName: "own"}}}
			return starting(s, withKeys("own", n))
		}},
		"requests of a list": {requestlist.MaxRequests, v1alpha1.ReasonStarting, func(n int) *scene {
			s := newScene()
			s.run.Spec.Load.RequestsFrom = &v1alpha1.RequestsSource{ConfigMapKeyRef: v1alpha1.ConfigMapKeyReference{Name: "list", Key: "k"}}
			return starting(s, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "list"}, Data: map[string]string{"k": strings.Repeat("/a 2\n", n)}})
		}},
		"bodies for all clients": {64, v1alpha1.ReasonMeasuring, func(n int) *scene {
			s := newScene().started(measurementStage)
			s.run.Spec.Clients.Replicas = ptr.To(int32(1000))
			for i := range n {
				s.run.Spec.Load.Requests = append(s.run.Spec.Load.Requests, v1alpha1.Request{
					Path: fmt.Sprint("/", i), Body: &v1alpha1.Body{Text: strings.Repeat("a", 16384)}, Headers: make([]v1alpha1.Header, 16),
				})
			}
			return s
		}},
		"clients of a script": {1000, v1alpha1.ReasonMeasuring, func(n int) *scene {
			s := scripted().started(measurementStage)
			s.run.Spec.Clients.Replicas = ptr.To(int32(n))
			return s
		}},
		"environment and tags": {64, v1alpha1.ReasonStarting, func(n int) *scene {
			s := scriptOf(0, 1)
			for i := range n {
				s.run.Spec.Script.Env = append(s.run.Spec.Script.Env, v1alpha1.EnvironmentVariable{Name: fmt.Sprint("E", i), Value: ptr.To(strings.Repeat("$(", 512))})
			}
			s.run.Spec.Target.Annotations = map[string]string{}
			for i := range n / 2 {
				s.run.Spec.Target.Annotations[fmt.Sprint("l", i)] = strings.Repeat("v", 4096)
			}
			return s
		}},
		"lines of a server's log": {2000, v1alpha1.ReasonStarting, func(n int) *scene {
			return newScene().tomcat("").withBackend().ready().logged(map[string]string{
				server.ContainerName: strings.Repeat(strings.Repeat("WARNING org.apache ", 13)+"\n", n), "app": strings.Repeat("ERROR a\n", n),
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			half, whole := allocated(t, test.scene(test.most/2), ""), allocated(t, test.scene(test.most), test.reason)
			if whole > 2*half+half/2+2<<20 || whole > most {
				t.Errorf("a step allocates %d bytes for %d, but %d for %d", half, test.most/2, whole, test.most)
			}
		})
	}
}

// allocated returns how many bytes a step of a run allocates, and 64 for each single allocation. The run has the given
// reason afterwards.
func allocated(t *testing.T, s *scene, reason string) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p := s.decide()
	runtime.ReadMemStats(&after)
	if got := stateIn(p); reason != "" && got.Reason != reason {
		t.Errorf("the run is %s: %s", got.Reason, got.Message)
	}
	if len(p.Create) > 0 {
		if config, ok := p.Create[0].Object.(*corev1.ConfigMap); ok && len(config.Data)+len(config.BinaryData) > 1100 {
			t.Errorf("the run's ConfigMap has %d keys", len(config.Data)+len(config.BinaryData))
		}
	}
	return after.TotalAlloc - before.TotalAlloc + 64*(after.Mallocs-before.Mallocs)
}

// withKeys returns a user's ConfigMap with a script and so many other keys without a value.
func withKeys(name string, n int) *corev1.ConfigMap {
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"script.js": "export default function () {}"}}
	for i := range n {
		c.Data[fmt.Sprint("k", i)] = ""
	}
	return c
}
