package initialize

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// Options are the answers from which a manifest is made.
type Options struct {
	// Kind is BenchmarkRun or Benchmark.
	Kind string
	Name string
	// Server is a field of spec.target.server: one of Servers.
	Server string
	// Image is the container image of the server, URL the address of an external server, Port that on which a
	// generic server listens.
	Image, URL string
	Port       int32
	// Path is the path of all requests.
	Path string
	// Load is one of Loads. Connections are those of each client; with an open load they are the maximum.
	Load        string
	Connections int32
	// Rate is the arrival rate of each client of an open load, in requests per second.
	Rate int32
	// Seconds is the duration of the measurement; with stages, that of each of three levels.
	Seconds int32
	Clients int32
	// Against is the image with which a Benchmark compares Image. If it is empty, rounds are compared with the
	// last one that passed.
	Against string
}

// Servers and Loads are the values of Options.Server and Options.Load.
var (
	Servers = []string{"tomcat", "httpd", "nginx", "jetty", "generic", "external"}
	Loads   = []string{"closed", "open", "stages"}
)

// external reports whether Assay doesn't start the server.
func (o *Options) external() bool { return o.Server == "external" }

// contentPath matches the paths that spec.target.content can have.
var contentPath = regexp.MustCompile(`^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$`)

const contentSizeBytes = 16384

// Manifest returns the commented YAML of a BenchmarkRun or Benchmark. Answers become scalars of the YAML, whatever
// they contain; whether they are valid is for the API server to say.
func Manifest(o *Options) ([]byte, error) {
	spec := o.runSpec()
	if o.Kind == "Benchmark" {
		spec = o.benchmarkSpec(spec)
	}
	root := object{
		{key: "apiVersion", value: v1alpha1.GroupVersion.String()},
		{key: "kind", value: o.Kind},
		{key: "metadata", value: object{{key: "name", value: o.Name}}},
		{key: "spec", value: spec},
	}
	node, err := root.node()
	if err != nil {
		return nil, err
	}
	node.HeadComment = o.heading()
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(node); err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	return out.Bytes(), encoder.Close()
}

func (o *Options) heading() string {
	if o.Kind == "Benchmark" {
		return "Apply with kubectl apply -f FILE, then kubectl assay watch benchmark/NAME and\nkubectl assay report benchmark/NAME. All fields: kubectl explain benchmark.spec"
	}
	return "Apply with kubectl apply -f FILE, then kubectl assay watch NAME and\nkubectl assay report NAME. All fields: kubectl explain benchmarkrun.spec"
}

func (o *Options) runSpec() object {
	return object{
		{key: "target", value: o.target()},
		{key: "clients", comment: "Each client is a pod with its own connections. Percentiles over all are exact.", value: object{
			{key: "replicas", value: o.Clients},
			{key: "resources", value: object{
				{key: "cpu", value: "1", line: "a whole number lets a client have exclusive CPUs"},
				{key: "memory", value: "512Mi"},
			}},
		}},
		{key: "load", value: o.load()},
		{key: "thresholds", comment: "What the result must meet for the verdict Passed.", value: []object{
			{{key: "metric", value: "LatencyP99"}, {key: "below", value: "500ms"}},
			{{key: "metric", value: "ErrorRate"}, {key: "below", value: "1%"}},
		}},
		{key: "ttlSecondsAfterFinished", comment: "The run is deleted with its result a week after it finished.", value: 604800, omit: o.Kind == "Benchmark"},
	}
}

func (o *Options) target() object {
	if o.external() {
		return object{{key: "server", comment: "A server that Assay doesn't start. Its CPU usage is unknown.", value: object{
			{key: "external", value: object{{key: "url", value: o.URL}}},
		}}}
	}
	server := object{}
	if o.Server == "generic" {
		server = object{{key: "port", value: o.Port}}
	}
	content := o.Server != "generic" && len(o.Path) <= 255 && contentPath.MatchString(o.Path)
	return object{
		{key: "image", value: o.Image},
		{key: "resources", comment: "Requests and limits of the server.", value: object{
			{key: "cpu", value: "1", line: "a whole number lets the server have exclusive CPUs"},
			{key: "memory", value: "1Gi"},
		}},
		{key: "server", value: object{{key: o.Server, value: server}}},
		{key: "content", comment: "Files of random bytes that the server serves. Omit it if the image has its own.", omit: !content, value: []object{
			{{key: "path", value: o.Path}, {key: "sizeBytes", value: contentSizeBytes}},
		}},
		{key: "podSecurity", comment: "Baseline permits a server that must be started as root.", value: "Restricted"},
	}
}

// levels are the shares of the connections in the levels of stages.
var levels = []int32{1, 2, 3}

func (o *Options) load() object {
	load := object{{key: "requests", value: []object{{{key: "path", value: o.Path}}}}}
	warmup := field{key: "warmup", comment: "Load that isn't measured, so that caches and compilers settle.", value: object{{key: "durationSeconds", value: int32(10)}}}
	switch o.Load {
	case "open":
		return append(load, field{key: "open", comment: "Open model: requests start at a rate, whatever became of those before.", value: object{
			{key: "requestsPerSecond", value: o.Rate, line: "of each client"},
			{key: "durationSeconds", value: o.Seconds},
			{key: "maxConnections", value: o.Connections},
		}}, warmup)
	case "stages":
		var steps []object
		for _, share := range levels {
			connections := int32(max(1, int64(o.Connections)*int64(share)/int64(len(levels)))) //nolint:gosec // at most o.Connections
			steps = append(steps, object{{key: "connections", value: connections}, {key: "rampSeconds", value: int32(5)}, {key: "holdSeconds", value: o.Seconds}})
		}
		return append(load, field{key: "stages", comment: "Levels of load, each with its own figures in the report.", value: object{{key: "levels", value: steps}}})
	}
	return append(load, field{key: "closed", comment: "Closed model: each connection sends its next request when the last one is answered.", value: object{
		{key: "connections", value: o.Connections, line: "of each client"},
		{key: "durationSeconds", value: o.Seconds},
	}}, warmup)
}

func (o *Options) benchmarkSpec(run object) object {
	baseline, measure := object{{key: "lastPassed", value: object{}}}, "Stored"
	spec := object{{key: "template", comment: "The BenchmarkRun that is repeated.", value: object{{key: "spec", value: run}}}}
	if o.Against != "" {
		baseline, measure = object{{key: "cell", value: object{{key: "image", value: o.Against}}}}, "Rerun"
		spec = append(spec, field{key: "axes", comment: "What is compared: each block has one run of each image, in random order.", value: []object{{
			{key: "name", value: "image"}, {key: "path", value: "/target/image"}, {key: "values", value: []string{o.Against, o.Image}},
		}}})
	}
	return append(spec,
		field{key: "repetitions", value: object{{key: "min", value: int32(7), line: "the fewest with which two metrics can be decided at 95% confidence"}}},
		field{key: "comparison", value: object{
			{key: "baseline", value: baseline},
			{key: "measure", comment: "Rerun measures the baseline again in each block; Stored uses its runs of then.", value: measure},
			{key: "metrics", comment: "A round fails if one of these got worse by more than its tolerance.", value: []object{
				{{key: "name", value: "LatencyP99"}, {key: "tolerancePercent", value: int32(20)}},
				{{key: "name", value: "RequestsPerSecond"}, {key: "tolerancePercent", value: int32(10)}},
			}},
			{key: "onInconclusive", value: "Fail"},
		}})
}

// object is a YAML mapping whose fields have an order and comments.
type object []field

type field struct {
	key string
	// comment is a comment on lines of its own before the field, line one at the end of its line. They are
	// written by this package alone.
	comment, line string
	// value is an object, a list of objects, or what the YAML library encodes.
	value any
	omit  bool
}

func (o object) node() (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range o {
		if f.omit {
			continue
		}
		value, err := nodeOf(f.value)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", f.key, err)
		}
		value.LineComment = cmp.Or(f.line, value.LineComment)
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: f.key, HeadComment: f.comment}, value)
	}
	return n, nil
}

func nodeOf(value any) (*yaml.Node, error) {
	switch v := value.(type) {
	case object:
		return v.node()
	case []object:
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range v {
			n, err := item.node()
			if err != nil {
				return nil, err
			}
			list.Content = append(list.Content, n)
		}
		return list, nil
	}
	n := &yaml.Node{}
	return n, n.Encode(value)
}
