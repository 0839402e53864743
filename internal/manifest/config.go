package manifest

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/content"
	"github.com/assay-dev/assay/internal/server"
)

// Keys of the run's ConfigMap, besides those of the rendered files.
const (
	contentListFile = "content.json"
	scriptListFile  = "script.json"
	renderingFile   = "rendering.json"
	// requestListFile holds the user's list of requests, checked and encoded by package
	// requestlist.
	requestListFile = "requests.gz"
)

// Inputs holds what a run copies from the user's ConfigMaps when it starts. Later changes don't
// count.
type Inputs struct {
	// Content holds the files of content, by path.
	Content map[string][]byte
	// Configurations holds the servers' own configurations.
	Configurations server.Configurations
	// Script holds the files of the load's k6 script.
	Script []ScriptFile
	// Requests is the encoded list of requests, or nil if the run has none.
	Requests []byte
}

// ScriptFile is a file of a k6 script.
type ScriptFile struct {
	// Key is its key in the run's ConfigMap, Path its path below the script's directory.
	Key  string `json:"key"`
	Path string `json:"path"`
	Text string `json:"-"`
}

// ConfigMap returns the run's ConfigMap. It holds what the run's pods read: the servers' files, the
// content and its list, the script, the list of requests, and the CA bundle for the manager. It
// also holds the rendered containers: the target's pod can be built from it alone.
func ConfigMap(run *v1alpha1.BenchmarkRun, rendering *server.Rendering, in *Inputs, ca []byte) (*corev1.ConfigMap, error) {
	list, binary, err := contentList(run, in)
	if err != nil {
		return nil, fmt.Errorf("encode the list of content: %w", err)
	}
	containers := *rendering
	containers.Files = nil
	encoded, err := json.Marshal(&containers)
	if err != nil {
		return nil, fmt.Errorf("encode the target's containers: %w", err)
	}
	data := map[string]string{contentListFile: string(list), renderingFile: string(encoded), caFile: string(ca)}
	add := func(key, text string) {
		if utf8.ValidString(text) {
			data[key] = text
		} else {
			binary[key] = []byte(text) // JSON would change it
		}
	}
	for name, text := range rendering.Files {
		add(name, text)
	}
	if len(in.Script) > 0 {
		files, err := json.Marshal(in.Script)
		if err != nil {
			return nil, fmt.Errorf("encode the list of the script's files: %w", err)
		}
		data[scriptListFile] = string(files)
		for _, f := range in.Script {
			add(f.Key, f.Text)
		}
	}
	if in.Requests != nil {
		binary[requestListFile] = in.Requests
	}
	config := &corev1.ConfigMap{ObjectMeta: objectMeta(run, ConfigName(run)), Data: data, BinaryData: binary}
	SetTrusted(config, ca)
	return config, nil
}

// Summary returns a run's ConfigMap with what is read of it while the run is active: no file of the user's.
func Summary(config *corev1.ConfigMap) *corev1.ConfigMap {
	summary := &corev1.ConfigMap{ObjectMeta: config.ObjectMeta, Data: map[string]string{}, BinaryData: map[string][]byte{}}
	for _, key := range []string{contentListFile, scriptListFile, renderingFile} {
		if text, ok := config.Data[key]; ok {
			summary.Data[key] = text
		}
	}
	if list, ok := config.BinaryData[requestListFile]; ok {
		summary.BinaryData[requestListFile] = list
	}
	return summary
}

// AnnotationCA is set on a run's ConfigMap to the SHA-256 of the manager's CA bundle that it has, so
// that a manager that changes its CA needn't read the ConfigMaps that have it.
const AnnotationCA = "assay.dev/ca-sha256"

// Trusts reports whether a run's ConfigMap, of which only the metadata must be given, has a CA bundle
// of the manager.
func Trusts(config metav1.Object, ca []byte) bool {
	return config.GetAnnotations()[AnnotationCA] == artifact.Identify(ca).SHA256
}

// SetTrusted records that a run's ConfigMap has a CA bundle of the manager.
func SetTrusted(config metav1.Object, ca []byte) {
	config.SetAnnotations(merged(config.GetAnnotations(), map[string]string{AnnotationCA: artifact.Identify(ca).SHA256}))
}

// IsConfig reports whether an object, of which only the metadata must be given, is a run's ConfigMap
// with that run as its owner.
func IsConfig(obj metav1.Object) bool {
	owner := metav1.GetControllerOf(obj)
	return IsRun(owner) && obj.GetName() == owner.Name+configSuffix
}

// ReadRendering returns the rendering that the run's ConfigMap was built with, without its files.
func ReadRendering(config *corev1.ConfigMap) (*server.Rendering, error) {
	return readJSON[*server.Rendering](config, renderingFile)
}

// ReadScript returns the files of the script in the run's ConfigMap, without their texts.
func ReadScript(config *corev1.ConfigMap) ([]ScriptFile, error) {
	if config.Data[scriptListFile] == "" {
		return nil, nil
	}
	return readJSON[[]ScriptFile](config, scriptListFile)
}

// ReadRequests returns the encoded list of requests in the run's ConfigMap, or nil.
func ReadRequests(config *corev1.ConfigMap) []byte { return config.BinaryData[requestListFile] }

// ReadContentLengths returns the lengths of the files that the target serves, by path. It omits
// files that the server executes: the length of what such a file answers is unknown.
func ReadContentLengths(config *corev1.ConfigMap) (map[string]int64, error) {
	files, err := readJSON[[]content.File](config, contentListFile)
	if err != nil {
		return nil, err
	}
	lengths := map[string]int64{}
	for _, file := range files {
		if !slices.Contains([]string{".jsp", ".jspx"}, path.Ext(file.Path)) {
			lengths[file.Path] = file.SizeBytes
		}
	}
	return lengths, nil
}

func readJSON[T any](config *corev1.ConfigMap, key string) (value T, err error) {
	if err = json.Unmarshal([]byte(config.Data[key]), &value); err != nil {
		err = fmt.Errorf("read %s in ConfigMap %s: %w", key, config.Name, err)
	}
	return value, err
}

// Artifact returns the ConfigMap with the run's full result, which completes the measurement. The
// API server rejects changes of its content. full is the full result in a bucket, or nil: the ConfigMap names it for
// readers who have nothing else. The run's status has it too.
func Artifact(run *v1alpha1.BenchmarkRun, encoded []byte, full *v1alpha1.ArtifactObject) *corev1.ConfigMap {
	config := &corev1.ConfigMap{
		ObjectMeta: objectMeta(run, ArtifactName(run)), Immutable: ptr.To(true), BinaryData: map[string][]byte{artifact.Key: encoded},
	}
	if full != nil {
		config.Data = map[string]string{"bucket": full.Bucket, "key": full.Key, "sha256": full.SHA256}
	}
	return config
}

// contentList returns the list of content for the container that writes it, and the copied files by
// their keys in the run's ConfigMap. It omits files that are missing from the inputs.
func contentList(run *v1alpha1.BenchmarkRun, in *Inputs) (list []byte, copied map[string][]byte, err error) {
	files := []content.File{}
	copied = map[string][]byte{}
	for i, c := range run.Spec.Target.Content {
		file := content.File{Path: c.Path, SizeBytes: c.SizeBytes, Text: c.Fill == v1alpha1.ContentText}
		if c.ConfigMapKeyRef != nil {
			text, ok := in.Content[c.Path]
			if !ok {
				continue
			}
			key := fmt.Sprintf("content-%d", i)
			file.SizeBytes, file.Source = int64(len(text)), configFolder+"/"+key
			copied[key] = text
		}
		files = append(files, file)
	}
	list, err = json.Marshal(files)
	return list, copied, err
}
