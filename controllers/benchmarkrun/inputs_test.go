package benchmarkrun

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/test/wrapper"
)

// fromConfigMap makes the target serve a file of the ConfigMap "files".
func fromConfigMap(path, key string) func(*wrapper.Run) {
	return func(w *wrapper.Run) {
		w.Spec.Target.Content = append(w.Spec.Target.Content, v1alpha1.ContentFile{
			Path: path, ConfigMapKeyRef: &v1alpha1.ConfigMapKeyReference{Name: "files", Key: key},
		})
		w.Path(path)
	}
}

// ownNginx makes the target an nginx with the configuration in the ConfigMap "own".
func ownNginx(w *wrapper.Run) {
	w.Spec.Target.Server = v1alpha1.Server{Nginx: &v1alpha1.NginxServer{Configuration: &v1alpha1.Configuration{ConfigMapName: "own"}}}
}

// users creates a ConfigMap of the user's.
func (b *bench) users(name string, data map[string]string, binary map[string][]byte) *corev1.ConfigMap {
	b.t.Helper()
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.run.Namespace, Name: name}, Data: data, BinaryData: binary}
	if err := api.Create(b.t.Context(), config); err != nil {
		b.t.Fatal(err)
	}
	return config
}

// config returns the run's ConfigMap.
func (b *bench) config() *corev1.ConfigMap {
	b.t.Helper()
	config := &corev1.ConfigMap{}
	if err := b.get("run-config", config); err != nil {
		b.t.Fatal(err)
	}
	return config
}

func (b *bench) targetPod() *corev1.Pod {
	b.t.Helper()
	pod := &corev1.Pod{}
	if err := b.get("run-target", pod); err != nil {
		b.t.Fatal(err)
	}
	return pod
}

// later advances the clock.
func (b *bench) later(d time.Duration) { b.clock.SetTime(b.clock.Now().Add(d)) }

// wants checks the state of the run and parts of its message.
func (b *bench) wants(reason string, says ...string) {
	b.t.Helper()
	got := b.state()
	if got.Reason != reason {
		b.t.Errorf("%s %s: %s; want %s", got.Status, got.Reason, got.Message, reason)
	}
	for _, text := range says {
		if !strings.Contains(got.Message, text) {
			b.t.Errorf("the message is %q, without %q", got.Message, text)
		}
	}
}

func TestInputsAreAwaited(t *testing.T) {
	b := newBench(t, fromConfigMap("/a.html", "a"), ownNginx)
	b.reconcile()
	b.wants(v1alpha1.ReasonStarting, "/files: not found", "/own: not found")
	b.users("own", map[string]string{"a.conf": "# a"}, nil)
	files := b.users("files", map[string]string{"other": "x"}, nil)
	b.later(inputTimeout - time.Second)
	b.reconcile()
	b.wants(v1alpha1.ReasonStarting, "key a of ConfigMap files: not found")
	if err := b.get("run-config", &corev1.ConfigMap{}); err == nil {
		t.Error("the run's ConfigMap was made without what is missing")
	}
	files.Data["a"] = "text"
	if err := api.Update(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	b.reconcile()
	if got := b.config(); string(got.BinaryData["content-0"]) != "text" || got.Data["server_conf_a.conf"] != "# a" {
		t.Errorf("%v %v", got.Data, got.BinaryData)
	}
	b.targetPod()
}

func TestInputsThatNeverComeEndTheRun(t *testing.T) {
	for name, data := range map[string]map[string]string{"/files: not found": nil, "key a of ConfigMap files: not found": {"b": "x"}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fromConfigMap("/a.html", "a"))
			if data != nil {
				b.users("files", data, nil)
			}
			b.reconcile()
			b.later(inputTimeout + time.Second)
			b.reconcile()
			b.wants(v1alpha1.ReasonConfigurationMissing, name)
		})
	}
}

func TestInputsAreCopiedByteByByte(t *testing.T) {
	bytes, comment := []byte{0xff, 0, 'a', 0xfe}, []byte("# \xff\xfe\n")
	b := newBench(t, fromConfigMap("/a.bin", "bin"), fromConfigMap("/b.jsp", "jsp"), fromConfigMap("/empty.html", "empty"), ownNginx)
	b.users("files", map[string]string{"jsp": "<%= 1 %>", "empty": ""}, map[string][]byte{"bin": bytes})
	b.users("own", map[string]string{"a.conf": "# a"}, map[string][]byte{"b.conf": comment})
	b.reconcile()
	config := b.config()
	want := map[string][]byte{"content-0": bytes, "content-1": []byte("<%= 1 %>"), "content-2": {}, "server_conf_b.conf": comment}
	got := maps.Clone(config.BinaryData)
	if got["content-2"] == nil { // the API server may leave it out
		got["content-2"] = []byte{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	lengths, err := manifest.ReadContentLengths(config)
	if diff := cmp.Diff(map[string]int64{"/a.bin": 4, "/empty.html": 0}, lengths); diff != "" || err != nil {
		t.Errorf("%v, lengths (-want +got):\n%s", err, diff)
	}
	b.podsRun()
	b.reconcile()
	if got := b.sessions.plans[0].Requests[0]; got.Path != "/empty.html" || got.Length != 0 {
		t.Errorf("the clients got %+v", got)
	}
}

func TestInputsThatDoNotFitAreRefused(t *testing.T) {
	b := newBench(t, fromConfigMap("/a.html", "a"), ownNginx)
	b.users("files", map[string]string{"a": strings.Repeat("a", maxInputBytes/2)}, nil)
	b.users("own", map[string]string{"a.conf": strings.Repeat("#", maxInputBytes/2+1)}, nil)
	b.reconcile()
	b.wants(v1alpha1.ReasonInvalidSpec, fmt.Sprint(maxInputBytes+1), "content.sizeBytes")
}

func TestInputsThatJustFitAreTaken(t *testing.T) {
	b := newBench(t, fromConfigMap("/a.bin", "a"), func(w *wrapper.Run) {
		for i := range 127 {
			w.Content(fmt.Sprintf("/%s-%d", strings.Repeat("d", 200), i), 1)
		}
	})
	b.users("files", nil, map[string][]byte{"a": make([]byte, maxInputBytes)})
	b.reconcile()
	b.wants(v1alpha1.ReasonStarting)
	b.targetPod()
}

// TestInputsAreCopiedOnce kills the manager between the creation of the run's
// ConfigMap and its pod, and changes or deletes the user's ConfigMaps before it is
// restarted.
func TestInputsAreCopiedOnce(t *testing.T) {
	for name, change := range map[string]func(*corev1.ConfigMap) error{
		"changed": func(c *corev1.ConfigMap) error {
			c.Data = map[string]string{"a": "longer than it was", "c.conf": "# c"}
			return api.Update(context.Background(), c)
		},
		"deleted": func(c *corev1.ConfigMap) error { return api.Delete(context.Background(), c) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fromConfigMap("/a.html", "a"), ownNginx)
			files := b.users("files", map[string]string{"a": "text"}, nil)
			own := b.users("own", map[string]string{"b.conf": "# b"}, nil)
			restore := b.intercept(interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.CreateOption) error {
					if _, isPod := obj.(*corev1.Pod); isPod {
						return errKilled
					}
					return c.Create(ctx, obj, options...)
				},
			})
			b.killed()
			restore()
			before := b.config()
			for _, config := range []*corev1.ConfigMap{files, own} {
				if err := change(config); err != nil {
					t.Fatal(err)
				}
			}
			b.later(inputTimeout + time.Second)
			b.reconcile()
			b.wants(v1alpha1.ReasonStarting)
			b.podsRun()
			b.reconcile()
			if diff := cmp.Diff(before, b.config()); diff != "" {
				t.Errorf("the run's ConfigMap (-before +after):\n%s", diff)
			}
			mounted := map[string]bool{}
			for _, m := range manifest.Servers(b.run, b.targetPod())[0].VolumeMounts {
				if m.Name == server.ConfigVolume {
					mounted[m.SubPath] = true
				}
			}
			for key := range mounted {
				if _, ok := before.Data[key]; !ok {
					t.Errorf("%s is mounted, but isn't in the run's ConfigMap", key)
				}
			}
			if !mounted["server_conf_b.conf"] || mounted["server_conf_c.conf"] {
				t.Errorf("mounted: %v", mounted)
			}
			if got := b.sessions.plans[0].Requests[0].Length; got != 4 {
				t.Errorf("the clients expect %d bytes", got)
			}
		})
	}
}

// TestInputsDoNotMatterUnderLoad deletes the run's ConfigMap under load, first while
// the user's exist, then after they were deleted.
func TestInputsDoNotMatterUnderLoad(t *testing.T) {
	b := newBench(t, fromConfigMap("/a.html", "a"))
	files := b.users("files", map[string]string{"a": "text"}, nil)
	b.measuring()
	for _, gone := range []bool{false, true} {
		if gone {
			if err := api.Delete(t.Context(), files); err != nil {
				t.Fatal(err)
			}
		}
		if err := api.Delete(t.Context(), b.config()); err != nil {
			t.Fatal(err)
		}
		b.later(inputTimeout)
		b.reconcile()
		b.wants(v1alpha1.ReasonMeasuring)
	}
	b.measured(b.sessions.starts[measurementStage])
	b.reconcile()
	b.reconcile()
	b.wants(v1alpha1.ReasonCompleted)
}
