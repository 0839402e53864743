package manifest

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestEmptyDirectoriesAreLimited checks every empty directory of the pods of a run, whatever server
// or user asked for it.
func TestEmptyDirectoriesAreLimited(t *testing.T) {
	targets := map[string]func(*wrapper.Run){
		"tomcat":  func(w *wrapper.Run) { w.Tomcat() },
		"httpd":   func(w *wrapper.Run) { w.Spec.Target.Server = v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{}} },
		"nginx":   func(w *wrapper.Run) { w.Spec.Target.Server = v1alpha1.Server{Nginx: &v1alpha1.NginxServer{}} },
		"jetty":   func(w *wrapper.Run) { w.Spec.Target.Server = v1alpha1.Server{Jetty: &v1alpha1.JettyServer{}} },
		"generic": func(*wrapper.Run) {},
	}
	for name, server := range targets {
		t.Run(name, func(t *testing.T) {
			w := wrapper.NewRun("ns", "run", "image").Content("/a", 10<<30).Content("/b", 1)
			server(w)
			run := w.Obj()
			run.UID = "0123456789"
			pod, err := podOf(t, run, &v1alpha1.PodSettings{Volumes: []v1alpha1.PodVolume{
				{Name: "disk", EmptyDir: &v1alpha1.EmptyDirVolume{}}, {Name: "memory", EmptyDir: &v1alpha1.EmptyDirVolume{Medium: corev1.StorageMediumMemory}},
			}})
			if err != nil {
				t.Fatal(err)
			}
			checkLimits(t, pod.Spec.Volumes)
			run.Spec.Script = &v1alpha1.Script{}
			checkLimits(t, jobOf(t, run, "node").Spec.Template.Spec.Volumes)
		})
	}
}

func checkLimits(t *testing.T, volumes []corev1.Volume) {
	t.Helper()
	checked := 0
	for _, v := range volumes {
		if v.EmptyDir == nil {
			continue
		}
		checked++
		if v.EmptyDir.SizeLimit == nil {
			t.Errorf("volume %s has no size limit", v.Name)
		} else if v.Name == server.ContentVolume && v.EmptyDir.SizeLimit.Value() != 10<<30+1+16<<20+2*64<<10 {
			t.Errorf("volume %s is limited to %s", v.Name, v.EmptyDir.SizeLimit)
		}
	}
	if checked == 0 {
		t.Error("no empty directory was checked")
	}
}

// TestEphemeralStorageIsLimited checks every container of the pods of a run. The limits of a pod's containers must have
// room for its empty directories on the disk, since the kubelet compares their sum.
func TestEphemeralStorageIsLimited(t *testing.T) {
	run := wrapper.NewRun("ns", "run", "image").Content("/a", 10<<30).Obj()
	run.UID = "0123456789"
	run.Spec.Target.Backends = []v1alpha1.Backend{{Name: "app", Image: "app:1", Server: v1alpha1.BackendServer{Generic: &v1alpha1.GenericServer{Port: new(int32(8081))}}}}
	target, err := podOf(t, run, nil)
	if err != nil {
		t.Fatal(err)
	}
	script, tool := *run, *run
	script.Spec.Script = &v1alpha1.Script{}
	tool.Spec.Clients.Tool = &v1alpha1.ClientTool{Image: "ab"}
	for name, test := range map[string]struct {
		spec                corev1.PodSpec
		containers          int
		mostRequest, needed int64
	}{
		"target":                {target.Spec, 4, 10<<30 + 256<<20, 10<<30 + 1},
		"client":                {jobOf(t, run, "node").Spec.Template.Spec, 1, logStorage, 0},
		"client with a script":  {jobOf(t, &script, "node").Spec.Template.Spec, 1, logStorage, workLimit.Value()},
		"client with a program": {jobOf(t, &tool, "node").Spec.Template.Spec, 2, 2 * logStorage, workLimit.Value() + programLimit.Value()},
	} {
		var requests, limits int64
		containers := slices.Concat(test.spec.InitContainers, test.spec.Containers)
		for i, c := range containers {
			request, limit := c.Resources.Requests.StorageEphemeral().Value(), c.Resources.Limits.StorageEphemeral().Value()
			if request <= 0 || limit < request {
				t.Errorf("%s: container %s requests %d and is limited to %d", name, c.Name, request, limit)
			}
			if i >= len(test.spec.InitContainers) {
				requests, limits = requests+request, limits+limit
			}
		}
		if len(containers) != test.containers || requests > test.mostRequest || limits < test.needed {
			t.Errorf("%s: %d containers request %d and are limited to %d, of which %d are needed", name, len(containers), requests, limits, test.needed)
		}
	}
}
