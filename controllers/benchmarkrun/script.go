package benchmarkrun

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/session"
)

const (
	scriptListFile = "script.json"
	scriptVolume   = "script"
	workVolume     = "work"
)

// workLimit bounds what a client writes for k6: certificates and a
// configuration.
var workLimit = resource.MustParse("16Mi")

// scriptFile is a file of a k6 script, in the run's own ConfigMap.
type scriptFile struct {
	// Key is its key there, Path its path below the script's folder.
	Key  string `json:"key"`
	Path string `json:"path"`
	text string
}

// scriptFolders are the ConfigMaps of a run's script, by the folders that they
// become.
func scriptFolders(run *v1alpha1.BenchmarkRun) map[string]string {
	s := run.Spec.Load.Script
	if s == nil {
		return nil
	}
	folders := map[string]string{"": s.ConfigMapName}
	for _, folder := range s.Folders {
		folders[folder.Path] = folder.ConfigMapName
	}
	return folders
}

// scriptField names the field of the script that names a ConfigMap, for the
// beginning of a message; empty when none does.
func scriptField(run *v1alpha1.BenchmarkRun, configMap string) string {
	s := run.Spec.Load.Script
	if s == nil {
		return ""
	}
	if s.ConfigMapName == configMap {
		return "spec.load.script.configMapName: "
	}
	for i, folder := range s.Folders {
		if folder.ConfigMapName == configMap {
			return fmt.Sprintf("spec.load.script.folders[%d].configMapName: ", i)
		}
	}
	return ""
}

// takeScript takes the files of the run's script from the ConfigMaps that were
// read.
func (in *inputs) takeScript(run *v1alpha1.BenchmarkRun, read map[string]*corev1.ConfigMap) {
	folders := scriptFolders(run)
	if folders == nil {
		return
	}
	complete := true
	for _, folder := range sortedKeys(folders) {
		config := read[folders[folder]]
		if config == nil {
			complete = false
			continue
		}
		files := texts(config)
		for _, key := range sortedKeys(files) {
			in.script = append(in.script, scriptFile{
				Key: "script-" + strconv.Itoa(len(in.script)), Path: path.Join(folder, key), text: files[key],
			})
		}
	}
	file := run.Spec.Load.Script.File
	if complete && !slices.ContainsFunc(in.script, func(f scriptFile) bool { return f.Path == file }) {
		in.missing = append(in.missing, fmt.Sprintf("spec.load.script.file: there is no %s in ConfigMap %s, nor in one of spec.load.script.folders",
			file, run.Spec.Load.Script.ConfigMapName))
	}
}

// checkScript says that the files of a script can't lie beside each other.
func (in *inputs) checkScript() error {
	for _, f := range in.script {
		for _, other := range in.script {
			if strings.HasPrefix(other.Path, f.Path+"/") {
				return fmt.Errorf("spec.load.script.folders: %s is a file, and a folder too: rename one of them", f.Path)
			}
			if other.Path == f.Path && other.Key != f.Key {
				return fmt.Errorf("spec.load.script.folders: %s is in two of the ConfigMaps: rename one of them", f.Path)
			}
		}
	}
	return nil
}

// copyScript adds a script's files, and where they belong, to the data of the
// run's own ConfigMap.
func (in *inputs) copyScript(data map[string]string, binary map[string][]byte) error {
	if len(in.script) == 0 {
		return nil
	}
	list, err := json.Marshal(in.script)
	if err != nil {
		return fmt.Errorf("encode the list of the script's files: %w", err)
	}
	data[scriptListFile] = string(list)
	for _, f := range in.script {
		if utf8.ValidString(f.text) {
			data[f.Key] = f.text
		} else {
			binary[f.Key] = []byte(f.text) // JSON would change it
		}
	}
	return nil
}

// scriptFiles are the files of a run's script, as its ConfigMap has them or will
// have them.
func scriptFiles(o *observed) ([]scriptFile, error) {
	if o.config == nil {
		return o.inputs.script, nil
	}
	var files []scriptFile
	if list := o.config.Data[scriptListFile]; list != "" {
		if err := json.Unmarshal([]byte(list), &files); err != nil {
			return nil, fmt.Errorf("read %s in ConfigMap %s: %w", scriptListFile, o.config.Name, err)
		}
	}
	return files, nil
}

// mountScript adds what a client needs to run the run's script.
func mountScript(run *v1alpha1.BenchmarkRun, files []scriptFile, spec *corev1.PodSpec, container *corev1.Container) {
	if run.Spec.Load.Script == nil {
		return
	}
	source := &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: configName(run)}}
	for _, f := range files {
		source.Items = append(source.Items, corev1.KeyToPath{Key: f.Key, Path: f.Path})
	}
	spec.Volumes = append(spec.Volumes, *projected(scriptVolume, []corev1.VolumeProjection{{ConfigMap: source}}), corev1.Volume{
		Name: workVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(workLimit)}},
	})
	container.VolumeMounts = append(container.VolumeMounts,
		corev1.VolumeMount{Name: scriptVolume, MountPath: session.ScriptFolder, ReadOnly: true},
		corev1.VolumeMount{Name: workVolume, MountPath: session.WorkFolder})
	container.Args = append(container.Args, "--script")
	container.Env = append(container.Env, scriptEnvironment(run.Spec.Load.Script)...)
}

// scriptEnvironment is what a script and k6's outputs read from the
// environment. What they need of Secrets, the kubelet puts there.
func scriptEnvironment(s *v1alpha1.ScriptLoad) []corev1.EnvVar {
	var env []corev1.EnvVar
	for _, v := range s.Env {
		if v.SecretKeyRef != nil {
			env = append(env, fromSecret(v.Name, v.SecretKeyRef.Name, v.SecretKeyRef.Key))
		} else {
			env = append(env, literal(v.Name, ptr.Deref(v.Value, "")))
		}
	}
	if s.Outputs == nil {
		return env
	}
	if p := s.Outputs.PrometheusRemoteWrite; p != nil {
		env = append(env, literal("K6_PROMETHEUS_RW_SERVER_URL", p.URL),
			literal("K6_PROMETHEUS_RW_TREND_STATS", strings.Join(p.TrendStatistics, ",")))
		env = append(env, remoteWriteCredentials(p.Authentication)...)
	}
	if t := s.Outputs.OpenTelemetry; t != nil {
		env = append(env, telemetry(t)...)
	}
	return env
}

func remoteWriteCredentials(a *v1alpha1.OutputAuthentication) []corev1.EnvVar {
	switch {
	case a == nil:
		return nil
	case a.Scheme == v1alpha1.AuthenticationBearer:
		return []corev1.EnvVar{fromSecret(loadplan.VariableRemoteWriteToken, a.SecretName, "token")}
	}
	return []corev1.EnvVar{
		fromSecret(loadplan.VariableRemoteWriteUser, a.SecretName, corev1.BasicAuthUsernameKey),
		fromSecret(loadplan.VariableRemoteWritePassword, a.SecretName, corev1.BasicAuthPasswordKey),
	}
}

func telemetry(t *v1alpha1.OpenTelemetry) []corev1.EnvVar {
	kind, protocol := "HTTP", "http/protobuf"
	if t.Protocol == v1alpha1.TelemetryGRPC {
		kind, protocol = "GRPC", "grpc"
	}
	env := []corev1.EnvVar{
		literal("K6_OTEL_EXPORTER_PROTOCOL", protocol),
		literal("K6_OTEL_"+kind+"_EXPORTER_ENDPOINT", t.Endpoint),
		literal("K6_OTEL_"+kind+"_EXPORTER_INSECURE", strconv.FormatBool(t.Encryption == v1alpha1.TelemetryClear)),
	}
	if ref := t.HeadersSecretRef; ref != nil {
		env = append(env, fromSecret(loadplan.VariableTelemetryHeaders, ref.Name, ref.Key))
	}
	return env
}

// literal is a variable whose value isn't expanded.
func literal(name, value string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, Value: strings.ReplaceAll(value, "$(", "$$(")}
}

func fromSecret(name, secret, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key,
	}}}
}
