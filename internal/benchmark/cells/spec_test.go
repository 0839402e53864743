package cells_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/test/benchtest"
)

// onlyCell returns the cell of a Benchmark whose axes have one option or value each.
func onlyCell(t *testing.T, axes ...v1alpha1.Axis) *cells.Cell {
	t.Helper()
	cells, err := cells.Of(&v1alpha1.BenchmarkSpec{Axes: axes})
	if err != nil {
		t.Fatal(err)
	}
	if len(cells) != 1 {
		t.Fatalf("%d cells", len(cells))
	}
	return &cells[0]
}

func TestCellSpec(t *testing.T) {
	for name, c := range map[string]struct {
		axes []v1alpha1.Axis
		want string
	}{
		"no axes": {
			want: benchtest.TomcatTemplate,
		},
		"a value, and another server": {
			axes: []v1alpha1.Axis{
				benchtest.Values("connections", "/load/closed/connections", "100"),
				{Name: "connector", Options: []v1alpha1.AxisOption{benchtest.Option("nginx", []string{"/target/server/tomcat"},
					"/target/server/nginx", "{}", "/target/image", `"nginx:1"`)}},
			},
			want: `{
				"target": {"image": "nginx:1", "server": {"nginx": {}}, "resources": {"cpu": "1"}},
				"clients": {"replicas": 2},
				"load": {"requests": [{"path": "/a"}, {"path": "/b"}], "closed": {"connections": 100, "requestCount": 1000}}
			}`,
		},
		"missing objects are created": {
			axes: []v1alpha1.Axis{{Name: "a", Options: []v1alpha1.AxisOption{benchtest.Option("x", []string{"/load/closed", "/script", "/load/stages/levels/0"},
				"/load/open/ramp/seconds", "3", "/load/open/requestsPerSecond", "500")}}},
			want: `{
				"target": {"image": "tomcat:9.0", "server": {"tomcat": {"connector": {"protocol": "NIO"}}}, "resources": {"cpu": "1"}},
				"clients": {"replicas": 2},
				"load": {"requests": [{"path": "/a"}, {"path": "/b"}], "open": {"requestsPerSecond": 500, "ramp": {"seconds": 3}}}
			}`,
		},
		"lists": {
			axes: []v1alpha1.Axis{
				benchtest.Values("first", "/load/requests/0", `{"path": "/c"}`),
				benchtest.Values("second", "/load/requests/1/path", `"/d"`),
				benchtest.Values("next", "/load/requests/2/path", `"/e"`),
				benchtest.Values("last", "/load/requests/-", `{"path": "/f"}`),
				benchtest.Values("content", "/target/content/-", `{"path": "/f", "sizeBytes": 1}`),
				{Name: "removed", Options: []v1alpha1.AxisOption{benchtest.Option("x", []string{"/load/requests/0", "/load/requests/9"})}},
			},
			want: `{
				"target": {"image": "tomcat:9.0", "server": {"tomcat": {"connector": {"protocol": "NIO"}}}, "resources": {"cpu": "1"},
					"content": [{"path": "/f", "sizeBytes": 1}]},
				"clients": {"replicas": 2},
				"load": {"requests": [{"path": "/d"}, {"path": "/e"}, {"path": "/f"}], "closed": {"connections": 25, "requestCount": 1000}}
			}`,
		},
		"a value within another": {
			axes: []v1alpha1.Axis{
				benchtest.Values("load", "/load/closed", `{"connections": 1, "requestCount": 10, "thinkTime": null}`),
				benchtest.Values("time", "/load/closed/thinkTime/minMilliseconds", "7"),
			},
			want: `{
				"target": {"image": "tomcat:9.0", "server": {"tomcat": {"connector": {"protocol": "NIO"}}}, "resources": {"cpu": "1"}},
				"clients": {"replicas": 2},
				"load": {"requests": [{"path": "/a"}, {"path": "/b"}], "closed": {"connections": 1, "requestCount": 10, "thinkTime": {"minMilliseconds": 7}}}
			}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			given := benchtest.Template(t, benchtest.TomcatTemplate)
			got, err := onlyCell(t, c.axes...).Spec(given)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(benchtest.Template(t, c.want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(benchtest.Template(t, benchtest.TomcatTemplate), given); diff != "" {
				t.Errorf("the template changed: (-want +got)\n%s", diff)
			}
		})
	}
}

// A parent whose name is escaped is created under its own name.
func TestCellSpecEscapedPath(t *testing.T) {
	doc, err := cells.Set([]byte(`{"a":{}}`), "/a/x~1y~01/z~0", json.Number("1"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(doc), `{"a":{"x/y~1":{"z~":1}}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCellSpecRefused(t *testing.T) {
	for name, c := range map[string]struct {
		axis v1alpha1.Axis
		want string
	}{
		"no object": {
			benchtest.Values("a", "/target/image/tag", `"9"`),
			`cell a=9: axis a, value 9: set /target/image/tag: /target/image: it is neither an object nor a list`,
		},
		"no position": {
			benchtest.Values("a", "/load/requests/first", `"9"`),
			`cell a=9: axis a, value 9: set /load/requests/first: /load/requests: it is a list of 2 elements, and "first" none of its positions: use 0 to 2, or - to add one`,
		},
		"a position far away": {
			benchtest.Values("a", "/load/requests/2000000000/path", `"/9"`),
			`cell a=/9: axis a, value /9: set /load/requests/2000000000/path: /load/requests: it is a list of 2 elements, and "2000000000" none of its positions: use 0 to 2, or - to add one`,
		},
		"no value": {
			v1alpha1.Axis{Name: "a", Options: []v1alpha1.AxisOption{{Name: "x", Set: []v1alpha1.FieldValue{{Path: "/lane"}}}}},
			`cell a=x: axis a, value x: set /lane: it has no value: use remove to remove a field`,
		},
		"no pointer to set": {
			benchtest.Values("a", "lane", `"x"`),
			`cell a=x: axis a, value x: set lane: it must be a JSON pointer, such as /load/closed/connections`,
		},
		"no pointer to remove": {
			v1alpha1.Axis{Name: "a", Options: []v1alpha1.AxisOption{benchtest.Option("x", []string{"/load//closed"})}},
			`cell a=x: axis a, value x: remove /load//closed: it must be a JSON pointer, such as /load/closed/connections`,
		},
		"unknown field": {
			benchtest.Values("a", "/load/closed/conections", "9"),
			`cell a=9: decode spec: unknown field "load.closed.conections"`,
		},
		"another type": {
			benchtest.Values("a", "/load/closed/connections", `"many"`),
			`cell a=many: decode spec: json: cannot unmarshal string into Go struct field ClosedLoad.load.closed.connections of type int32`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := onlyCell(t, c.axis).Spec(benchtest.Template(t, benchtest.TomcatTemplate))
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}
