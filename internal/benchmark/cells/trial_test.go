package cells_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/test/benchtest"
)

func TestTrialSpec(t *testing.T) {
	for name, c := range map[string]struct {
		axis     v1alpha1.Axis
		capacity v1alpha1.Capacity
		want     string
	}{
		"connections": {
			benchtest.Values("image", "/target/image", `"tomcat:10"`),
			v1alpha1.Capacity{Path: "/load/closed/connections", TrialSeconds: ptr.To(int32(20))},
			`{
				"target": {"image": "tomcat:10", "server": {"tomcat": {"connector": {"protocol": "NIO"}}}, "resources": {"cpu": "1"}},
				"clients": {"replicas": 2},
				"load": {"requests": [{"path": "/a"}, {"path": "/b"}], "closed": {"connections": 700, "durationSeconds": 20}}
			}`,
		},
		"a rate": {
			v1alpha1.Axis{Name: "load", Options: []v1alpha1.AxisOption{benchtest.Option("open", []string{"/load/closed"}, "/load/open", `{"durationSeconds": 300, "requestsPerSecond": 1}`)}},
			v1alpha1.Capacity{Path: "/load/open/requestsPerSecond"},
			`{
				"target": {"image": "tomcat:9.0", "server": {"tomcat": {"connector": {"protocol": "NIO"}}}, "resources": {"cpu": "1"}},
				"clients": {"replicas": 2},
				"load": {"requests": [{"path": "/a"}, {"path": "/b"}], "open": {"requestsPerSecond": 700, "durationSeconds": 30}}
			}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := onlyCell(t, c.axis).TrialJSON(benchtest.Template(t, benchtest.TomcatTemplate), &c.capacity, 700)
			if err != nil {
				t.Fatal(err)
			}
			got := benchtest.Template(t, string(doc))
			if diff := cmp.Diff(benchtest.Template(t, c.want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if load, err := cells.LoadOf(got, &c.capacity); load != 700 || err != nil {
				t.Errorf("its load is %d, %v", load, err)
			}
		})
	}
}

func TestTrialSpecRefused(t *testing.T) {
	stages := benchtest.Values("load", "/load", `{"stages": {"levels": []}, "closed": null}`)
	for name, c := range map[string]struct {
		axis v1alpha1.Axis
		path string
		want string
	}{
		"no such load":     {stages, "/load/stages/levels/-", "cell load=#1: capacity needs load.open or load.closed: a trial has one load, for trialSeconds"},
		"no field":         {benchtest.Values("a", "/lane", `"x"`), "/lane/x", "cell a=x: set capacity.path /lane/x: /lane: it is neither an object nor a list"},
		"no pointer":       {benchtest.Values("a", "/lane", `"x"`), "lane", "cell a=x: set capacity.path lane: it must be a JSON pointer, such as /load/closed/connections"},
		"a load of a text": {benchtest.Values("a", "/lane", `"x"`), "/load", "cell a=x: capacity needs load.open or load.closed: a trial has one load, for trialSeconds"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := onlyCell(t, c.axis).TrialJSON(benchtest.Template(t, benchtest.TomcatTemplate), &v1alpha1.Capacity{Path: c.path}, 700)
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	for path, want := range map[string]string{
		"/target/image":      "/target/image: it is tomcat:9.0, must be a whole number",
		"/target/nothing":    "/target/nothing: it is <nil>, must be a whole number",
		"/target/image/name": "/target/image/name: it is neither an object nor a list",
	} {
		if _, err := cells.LoadOf(benchtest.Template(t, benchtest.TomcatTemplate), &v1alpha1.Capacity{Path: path}); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
