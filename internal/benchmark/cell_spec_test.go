package benchmark

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
)

func option(name string, remove []string, set ...string) v1alpha1.AxisOption {
	o := v1alpha1.AxisOption{Name: name, Remove: remove}
	for i := 0; i < len(set); i += 2 {
		o.Set = append(o.Set, v1alpha1.FieldValue{Path: set[i], Value: &apiextensionsv1.JSON{Raw: []byte(set[i+1])}})
	}
	return o
}

const tomcatTemplate = `{
	"target": {"image": "tomcat:9.0", "server": {"tomcat": {"connector": {"protocol": "NIO"}}}, "resources": {"cpu": "1"}},
	"clients": {"replicas": 2},
	"load": {"requests": [{"path": "/a"}, {"path": "/b"}], "closed": {"connections": 25, "requestCount": 1000}}
}`

func template(t *testing.T, from string) *v1alpha1.BenchmarkRunSpec {
	t.Helper()
	var spec v1alpha1.BenchmarkRunSpec
	if err := json.Unmarshal([]byte(from), &spec); err != nil {
		t.Fatal(err)
	}
	return &spec
}

// onlyCell returns the cell of a Benchmark whose axes have one option or value each.
func onlyCell(t *testing.T, axes ...v1alpha1.Axis) *Cell {
	t.Helper()
	cells, err := Cells(&v1alpha1.BenchmarkSpec{Axes: axes})
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
			want: tomcatTemplate,
		},
		"a value, and another server": {
			axes: []v1alpha1.Axis{
				values("connections", "/load/closed/connections", "100"),
				{Name: "connector", Options: []v1alpha1.AxisOption{option("nginx", []string{"/target/server/tomcat"},
					"/target/server/nginx", "{}", "/target/image", `"nginx:1"`)}},
			},
			want: `{
				"target": {"image": "nginx:1", "server": {"nginx": {}}, "resources": {"cpu": "1"}},
				"clients": {"replicas": 2},
				"load": {"requests": [{"path": "/a"}, {"path": "/b"}], "closed": {"connections": 100, "requestCount": 1000}}
			}`,
		},
		"missing objects are created": {
			axes: []v1alpha1.Axis{{Name: "a", Options: []v1alpha1.AxisOption{option("x", []string{"/load/closed", "/script", "/load/stages/levels/0"},
				"/load/open/ramp/seconds", "3", "/load/open/requestsPerSecond", "500")}}},
			want: `{
				"target": {"image": "tomcat:9.0", "server": {"tomcat": {"connector": {"protocol": "NIO"}}}, "resources": {"cpu": "1"}},
				"clients": {"replicas": 2},
				"load": {"requests": [{"path": "/a"}, {"path": "/b"}], "open": {"requestsPerSecond": 500, "ramp": {"seconds": 3}}}
			}`,
		},
		"lists": {
			axes: []v1alpha1.Axis{
				values("first", "/load/requests/0", `{"path": "/c"}`),
				values("second", "/load/requests/1/path", `"/d"`),
				values("next", "/load/requests/2/path", `"/e"`),
				values("last", "/load/requests/-", `{"path": "/f"}`),
				values("content", "/target/content/-", `{"path": "/f", "sizeBytes": 1}`),
				{Name: "removed", Options: []v1alpha1.AxisOption{option("x", []string{"/load/requests/0", "/load/requests/9"})}},
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
				values("load", "/load/closed", `{"connections": 1, "requestCount": 10, "thinkTime": null}`),
				values("time", "/load/closed/thinkTime/minMilliseconds", "7"),
			},
			want: `{
				"target": {"image": "tomcat:9.0", "server": {"tomcat": {"connector": {"protocol": "NIO"}}}, "resources": {"cpu": "1"}},
				"clients": {"replicas": 2},
				"load": {"requests": [{"path": "/a"}, {"path": "/b"}], "closed": {"connections": 1, "requestCount": 10, "thinkTime": {"minMilliseconds": 7}}}
			}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			given := template(t, tomcatTemplate)
			got, err := onlyCell(t, c.axes...).Spec(given)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(template(t, c.want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(template(t, tomcatTemplate), given); diff != "" {
				t.Errorf("the template changed: (-want +got)\n%s", diff)
			}
		})
	}
}

// A parent whose name is escaped is created under its own name.
func TestCellSpecEscapedPath(t *testing.T) {
	doc, err := set([]byte(`{"a":{}}`), "/a/x~1y~01/z~0", []byte("1"))
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
			values("a", "/target/image/tag", `"9"`),
			`cell a=9: axis a, value 9: set /target/image/tag: /target/image: it is neither an object nor a list`,
		},
		"no position": {
			values("a", "/load/requests/first", `"9"`),
			`cell a=9: axis a, value 9: set /load/requests/first: /load/requests: it is a list of 2 elements, and "first" none of its positions: use 0 to 2, or - to add one`,
		},
		"a position far away": {
			values("a", "/load/requests/2000000000/path", `"/9"`),
			`cell a=/9: axis a, value /9: set /load/requests/2000000000/path: /load/requests: it is a list of 2 elements, and "2000000000" none of its positions: use 0 to 2, or - to add one`,
		},
		"no value": {
			v1alpha1.Axis{Name: "a", Options: []v1alpha1.AxisOption{{Name: "x", Set: []v1alpha1.FieldValue{{Path: "/lane"}}}}},
			`cell a=x: axis a, value x: set /lane: it has no value: use remove to remove a field`,
		},
		"no pointer to set": {
			values("a", "lane", `"x"`),
			`cell a=x: axis a, value x: set lane: it must be a JSON pointer, such as /load/closed/connections`,
		},
		"no pointer to remove": {
			v1alpha1.Axis{Name: "a", Options: []v1alpha1.AxisOption{option("x", []string{"/load//closed"})}},
			`cell a=x: axis a, value x: remove /load//closed: it must be a JSON pointer, such as /load/closed/connections`,
		},
		"unknown field": {
			values("a", "/load/closed/conections", "9"),
			`cell a=9: decode spec: unknown field "load.closed.conections"`,
		},
		"another type": {
			values("a", "/load/closed/connections", `"many"`),
			`cell a=many: decode spec: json: cannot unmarshal string into Go struct field ClosedLoad.load.closed.connections of type int32`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := onlyCell(t, c.axis).Spec(template(t, tomcatTemplate))
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// Whatever users write, set either returns an error or a document that has the value at the path.
func FuzzSet(f *testing.F) {
	for _, path := range []string{"/a", "/a/b/-", "/l/0", "/l/1/x", "/l/-/x", "/n/x/0", "/s/x", "/~1/~0", "/", "//", "/l/-1", "/l/+1", "/l/01", "a"} {
		f.Add(tomcatTemplate, path, "1")
		f.Add(`{"a": {}, "l": [1, null], "n": null, "s": "x"}`, path, `{"x": [null]}`)
	}
	f.Fuzz(func(t *testing.T, doc, path, value string) {
		var from map[string]any
		if json.Unmarshal([]byte(doc), &from) != nil || !json.Valid([]byte(value)) || !utf8.ValidString(path) {
			return
		}
		got, err := set([]byte(doc), path, []byte(value))
		if err != nil {
			return
		}
		var node, want any
		if err := json.Unmarshal(got, &node); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if err := json.Unmarshal([]byte(value), &want); err != nil {
			t.Fatal(err)
		}
		for _, token := range strings.Split(path, "/")[1:] {
			list, isList := node.([]any)
			if isList && token == "-" {
				node = list[len(list)-1]
				continue
			}
			child, exists, err := lookUp(node, token)
			if err != nil || !exists {
				t.Fatalf("%s has nothing at %s: %v", got, path, err)
			}
			node = child
		}
		if diff := cmp.Diff(want, node); diff != "" {
			t.Errorf("%s at %s: (-want +got)\n%s", got, path, diff)
		}
	})
}
