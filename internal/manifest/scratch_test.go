package manifest

import (
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
			pod, err := podOf(t, run, &v1alpha1.PodAdditions{Volumes: []v1alpha1.PodVolume{
				{Name: "disk", EmptyDir: &v1alpha1.EmptyDirVolume{}}, {Name: "memory", EmptyDir: &v1alpha1.EmptyDirVolume{Medium: corev1.StorageMediumMemory}},
			}})
			if err != nil {
				t.Fatal(err)
			}
			checkLimits(t, pod.Spec.Volumes)
			run.Spec.Script = &v1alpha1.Script{}
			checkLimits(t, ClientJob(run, "node", nil, &Settings{}).Spec.Template.Spec.Volumes)
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
