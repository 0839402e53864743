package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// tenantAttack is something that a tenant, or a pod without any right, does until its context is done.
type tenantAttack struct {
	name, about string
	attack      func(ctx context.Context, t *tenant) error
}

var tenantAttacks = []tenantAttack{
	{"doors", "a pod holds 400 connections with an unfinished header of 1 MB open at each port of the manager", attackDoors},
	{"small-keys", "four scripts from a ConfigMap with 45,000 keys", attackSmallKeys},
	{"shared-input", "600 runs with a configuration from one ConfigMap of 880 kB, each in a lane of its own", attackSharedInput},
	{"dry-runs", "four Benchmarks of 44 kB with 256 cells and a search: 768 dry runs each", attackDryRuns},
	{"totals", "43 clients of four runs send totals of 3 MB", attackTotals},
	{"labels", "200 objects of nobody with a run's label and 250 kB of annotations", attackLabels},
	{"sessions", "a pod attacks the session server in each way that a client's token allows", attackSessions},
	{"digests", "the artifact of a finished run is replaced by one that decodes to 31 MiB", attackDigests},
}

// sessionPort is the port of the manager's session server.
const sessionPort = "9443"

// stay waits until the wave is over.
func stay(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// attackDoors runs this program in the network of a pod.
func attackDoors(ctx context.Context, t *tenant) error {
	manager, err := t.admin.Manager(ctx)
	if err != nil {
		return err
	}
	var doors []string
	for _, container := range manager.Spec.Containers {
		for _, port := range container.Ports {
			doors = append(doors, net.JoinHostPort(manager.Status.PodIP, strconv.Itoa(int(port.ContainerPort))))
		}
	}
	pod := restricted("doors")
	if !t.create(ctx, pod) {
		return nil
	}
	pid := 0
	if err := harness.Await(ctx, time.Minute, func(ctx context.Context) error {
		if err := t.admin.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		pid, err = harness.Process(pod, pod.Spec.Containers[0].Name)
		return err
	}); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, "nsenter", "-t", strconv.Itoa(pid), "-n", program, "-flood", strings.Join(doors, ","))
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 5 * time.Second
	out, err := command.CombinedOutput()
	if ctx.Err() == nil {
		return fmt.Errorf("flood %s: %w: %s", doors, err, bytes.TrimSpace(out))
	}
	var opened, closed int
	if _, err := fmt.Sscanf(string(out), floodReport, &opened, &closed); err != nil {
		return fmt.Errorf("read what the flood says: %w: %s", err, out)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made += opened
	t.refused["closed"] += closed
	return nil
}

const floodReport = "opened %d, closed %d\n"

// restricted returns a pod that the Pod Security Standard Restricted allows.
func restricted(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			AutomountServiceAccountToken: ptr.To(false),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To(int64(65532)), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "attacker", Image: harness.ServerImage, ImagePullPolicy: corev1.PullIfNotPresent,
				SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
			}},
		},
	}
}

// nowhere makes no node fit the pods of a run, so that the attack takes nothing from the nodes: it is the manager's.
func nowhere(r *wrapper.Run) *v1alpha1.BenchmarkRun {
	node := map[string]string{"example.org/nowhere": "true"}
	if r.Spec.Target.Image != "" {
		r.Spec.Target.NodeSelector = node
	}
	r.Spec.Clients.NodeSelector = node
	return r.Obj()
}

const keys = 45_000

// smallKeys returns a ConfigMap of 500 kB, most of it in keys.
func smallKeys() *corev1.ConfigMap {
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "small-keys"}, Data: map[string]string{"script.js": "export default function () {}"}}
	for i := range keys {
		config.Data[fmt.Sprintf("k%09d", i)] = "x"
	}
	return config
}

func attackSmallKeys(ctx context.Context, t *tenant) error {
	config := smallKeys()
	if t.create(ctx, config) {
		for i := range 4 {
			t.create(ctx, nowhere(wrapper.NewRun("", fmt.Sprintf("small-keys-%d", i), harness.ServerImage).Lane(fmt.Sprintf("small-keys-%d", i)).Script(config.Name)))
		}
	}
	return stay(ctx)
}

const sharingRuns, sharedBytes = 600, 880_000

// sharedInput returns a configuration of nginx.
func sharedInput() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shared"}, Data: map[string]string{"nginx.conf": "events {}\n# " + strings.Repeat("x", sharedBytes)}}
}

func attackSharedInput(ctx context.Context, t *tenant) error {
	config := sharedInput()
	if t.create(ctx, config) {
		_ = harness.Parallel(ctx, sharingRuns, func(i int) error {
			name := fmt.Sprintf("sharing-%d", i)
			t.create(ctx, nowhere(wrapper.NewRun("", name, "localhost/assay-test/nginx:1").Nginx().Configuration(config.Name).Lane(name)))
			return nil // a refusal is counted
		})
	}
	return stay(ctx)
}

// manyCells returns a Benchmark with the most cells, each of which is checked thrice, and up to 256 changes of each.
func manyCells(name string) *v1alpha1.Benchmark {
	const axes, changes = 8, 32 // two options each: 256 cells
	b := &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Name: name}}
	run := wrapper.NewRun("", "", harness.ServerImage).Lane(name).Rate(10, 5).Threshold(v1alpha1.MetricErrorRate, "1%")
	b.Spec.Template.Spec = nowhere(run).Spec
	for i := range axes {
		changed := v1alpha1.AxisOption{Name: "changed"}
		for j := range changes {
			changed.Set = append(changed.Set, v1alpha1.FieldValue{
				Path:  fmt.Sprintf("/target/annotations/a%d", j),
				Value: &apiextensionsv1.JSON{Raw: fmt.Appendf(nil, "%q", fmt.Sprintf("%d-%s", i, strings.Repeat("x", 115)))},
			})
		}
		b.Spec.Axes = append(b.Spec.Axes, v1alpha1.Axis{Name: fmt.Sprintf("axis-%d", i), Options: []v1alpha1.AxisOption{{Name: "template"}, changed}})
	}
	b.Spec.Repetitions = &v1alpha1.Repetitions{Min: ptr.To(int32(1))}
	b.Spec.Capacity = &v1alpha1.Capacity{Path: "/load/open/requestsPerSecond", From: 10, Max: 1000}
	return b
}

func attackDryRuns(ctx context.Context, t *tenant) error {
	for i := range 4 {
		t.create(ctx, manyCells(fmt.Sprintf("dry-runs-%d", i)))
	}
	return stay(ctx)
}

// attackTotals speaks for the clients of four runs, whose pods never start: the tenant may create their tokens.
func attackTotals(ctx context.Context, t *tenant) error {
	data, err := largeTotals()
	if err != nil {
		return err
	}
	manager, err := t.admin.Manager(ctx)
	if err != nil {
		return err
	}
	address := net.JoinHostPort(manager.Status.PodIP, sessionPort)
	totals := encode(&sessionpb.PodMessage{Number: 1, Message: &sessionpb.PodMessage_ClientTotals{ClientTotals: &sessionpb.ClientTotals{Totals: data}}})
	var all sync.WaitGroup
	failed := make(chan error, 4)
	for i, clients := range []int32{11, 11, 11, 10} {
		run := nowhere(wrapper.NewRun("", fmt.Sprintf("totals-%d", i), "").External("http://192.0.2.1").Lane(fmt.Sprintf("totals-%d", i)).Clients(clients, "10m", "64Mi"))
		if !t.create(ctx, run) {
			continue
		}
		all.Go(func() { failed <- t.speakFor(ctx, run, int(clients), address, totals) })
	}
	all.Wait()
	close(failed)
	var errs []error
	for err := range failed {
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil && ctx.Err() == nil {
		return err
	}
	return stay(ctx)
}

// speakFor sends a message for each client of a run, and keeps the sessions.
func (t *tenant) speakFor(ctx context.Context, run *v1alpha1.BenchmarkRun, clients int, address string, message []byte) error {
	var pods []corev1.Pod
	var config corev1.ConfigMap
	if err := harness.Await(ctx, time.Minute, func(ctx context.Context) (err error) {
		if err := t.admin.Get(ctx, client.ObjectKey{Namespace: t.namespace, Name: manifest.ConfigName(run)}, &config); err != nil {
			return err
		}
		pods, err = t.admin.Pods(ctx, t.namespace, client.MatchingLabels{manifest.LabelRunUID: string(run.UID), manifest.LabelRole: manifest.RoleClient})
		if err == nil && len(pods) != clients {
			err = fmt.Errorf("%d of %d clients exist", len(pods), clients)
		}
		return err
	}); err != nil {
		return t.unless(ctx, err)
	}
	target, err := identified(address, []byte(config.Data["ca.crt"]))
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	for i := range pods {
		all.Go(func() {
			err := t.converseAs(ctx, target, &pods[i], message)
			if ctx.Err() != nil { // the manager has let it wait
				err = context.DeadlineExceeded
			}
			t.count(err)
		})
	}
	all.Wait()
	return nil
}

// unless counts an error as a defense unless the wave is over: the manager may keep the pods of such runs from existing.
func (t *tenant) unless(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		t.count(err)
	}
	return nil
}

// converseAs sends a message for a pod until the manager has taken it, and then keeps the session until ctx is done.
func (t *tenant) converseAs(ctx context.Context, target *target, pod *corev1.Pod, message []byte) error {
	token, err := harness.Token(ctx, t.kube, pod) // who may create pods may create their tokens
	if err != nil {
		return err
	}
	conn, err := target.connect()
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	stream, err := call(ctx, conn, token)
	if err != nil {
		return err
	}
	for _, m := range [][]byte{hello(nil), message, encode(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_Ping{Ping: &sessionpb.Ping{Sent: 1}}})} {
		if stream.SendMsg(m) != nil {
			break // the reason is received
		}
	}
	return awaitPong(stream) // the connection stays open until the wave is over
}

// attackSessions attacks with the token of a client, and of the next run's client when that has ended: a run ends by the first attack that
// its session sees.
func attackSessions(ctx context.Context, t *tenant) error {
	for number := 0; ctx.Err() == nil; number++ {
		run := wrapper.NewRun("", fmt.Sprintf("sessions-%d", number), harness.ServerImage).Lane("sessions").Path("/fixed/100000/10").Seconds(1, 300).Obj()
		if !t.create(ctx, run) {
			return stay(ctx)
		}
		if err := t.attackSession(ctx, run); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// attackSession attacks with the token of a run's client, by which the run must fail.
func (t *tenant) attackSession(ctx context.Context, run *v1alpha1.BenchmarkRun) error {
	var config corev1.ConfigMap
	if err := harness.Await(ctx, time.Minute, func(ctx context.Context) error {
		if err := t.admin.Get(ctx, client.ObjectKeyFromObject(run), run); err != nil {
			return err
		}
		if c := harness.Condition(run, v1alpha1.ConditionSucceeded); c.Reason != v1alpha1.ReasonMeasuring {
			return fmt.Errorf("the run doesn't measure: %s: %s", c.Reason, c.Message)
		}
		return t.admin.Get(ctx, client.ObjectKey{Namespace: t.namespace, Name: manifest.ConfigName(run)}, &config)
	}); err != nil {
		return err
	}
	pod, err := t.admin.Pod(ctx, t.namespace, harness.ClientLabels(run, 0))
	if err != nil {
		return err
	}
	token, err := harness.Token(ctx, t.kube, pod)
	if err != nil {
		return err
	}
	manager, err := t.admin.Manager(ctx)
	if err != nil {
		return err
	}
	target, err := identified(net.JoinHostPort(manager.Status.PodIP, sessionPort), []byte(config.Data["ca.crt"]))
	if err != nil {
		return err
	}
	target.newToken = func() (string, func(), error) { return token, func() {}, nil }
	for name, outcomes := range attackInTurn(ctx, target, 1, func() int64 { return 0 }).attacks {
		for outcome, n := range outcomes {
			if strings.HasPrefix(outcome, failedAttempt) {
				return fmt.Errorf("%s: %s", name, outcome)
			}
			t.mu.Lock()
			t.made += n
			t.mu.Unlock()
		}
	}
	if err := harness.Await(ctx, time.Minute, func(ctx context.Context) error { return t.admin.Finished(ctx, run) }); err != nil {
		return err
	}
	if c := harness.Condition(run, v1alpha1.ConditionSucceeded); c.Reason != v1alpha1.ReasonClientFailed {
		return fmt.Errorf("the attacked run ended with %s: %s", c.Reason, c.Message)
	}
	return nil
}

// largeTotals returns encoded totals of about 3 MB that a client could have counted: of the metrics of a k6 script.
func largeTotals() ([]byte, error) {
	var t result.Totals
	t.StartedAt = time.Now().Add(-time.Minute).Truncate(time.Hour).UnixMicro()
	t.EndedAt = t.StartedAt + 60_000_000
	m := k6metric.New("", k6metric.Trend, k6metric.None)
	for i := range 8000 {
		value := math.Exp(0.0021 * float64(i)) // each in a bin of its own
		m.Add(value, t.StartedAt)
		m.Add(-value, t.StartedAt)
	}
	t.Script = &result.ScriptTotals{}
	for i := range k6metric.MaxMetrics {
		m.Name = fmt.Sprintf("metric_%d", i)
		t.Script.Metrics = append(t.Script.Metrics, *m)
	}
	return session.EncodeTotals(&t)
}

// attackLabels creates ConfigMaps, Jobs and pods that claim to belong to a run.
func attackLabels(ctx context.Context, t *tenant) error {
	about := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Name: name, Labels: map[string]string{manifest.LabelRun: "nobody", manifest.LabelRunUID: string(uuid.NewUUID())},
			Annotations: map[string]string{"example.org/large": strings.Repeat("x", 250_000)},
		}
	}
	_ = harness.Parallel(ctx, 200, func(i int) error {
		pod := restricted("")
		pod.Spec.NodeSelector = map[string]string{"example.org/nowhere": "true"}
		switch name := fmt.Sprintf("labels-%d", i); i % 4 {
		case 0:
			pod.ObjectMeta = about(name)
			t.create(ctx, pod)
		case 1:
			pod.Spec.RestartPolicy = corev1.RestartPolicyNever
			t.create(ctx, &batchv1.Job{ObjectMeta: about(name), Spec: batchv1.JobSpec{Suspend: ptr.To(true), Template: corev1.PodTemplateSpec{Spec: pod.Spec}}})
		default:
			t.create(ctx, &corev1.ConfigMap{ObjectMeta: about(name)})
		}
		return nil // a refusal is counted
	})
	return stay(ctx)
}

// bomb returns an artifact of about 31 kB that decodes to 31 MiB.
func bomb() ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(w, `{"schemaVersion":%d,"series":[{}%s]}`, result.SchemaVersion, strings.Repeat(",{}", 31<<20/3))
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// attackDigests replaces the artifact of a run that has finished, and makes the manager look at it again and again.
func attackDigests(ctx context.Context, t *tenant) error {
	data, err := bomb()
	if err != nil {
		return err
	}
	run := wrapper.NewRun("", "digests", harness.ServerImage).Lane("digests").TargetResources("50m", "64Mi").Clients(1, "50m", "64Mi").Path("/fixed/1000/10").Obj()
	if !t.create(ctx, run) {
		return stay(ctx)
	}
	if err := harness.Await(ctx, 2*time.Minute, func(ctx context.Context) error { return t.admin.Finished(ctx, run) }); err != nil {
		return t.unless(ctx, err)
	}
	name := client.ObjectKey{Namespace: t.namespace, Name: manifest.ArtifactName(run)}
	for number := 0; ctx.Err() == nil; number++ {
		var own corev1.ConfigMap
		if err := t.own.Get(ctx, name, &own); err == nil {
			_ = t.own.Delete(ctx, &own)
		}
		t.create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name.Name, Labels: own.Labels, OwnerReferences: own.OwnerReferences},
			BinaryData: map[string][]byte{artifact.Key: data},
		})
		changed := run.DeepCopy()
		changed.Annotations = map[string]string{"example.org/look": strconv.Itoa(number)}
		if err := t.own.Patch(ctx, changed, client.MergeFrom(run)); err != nil && ctx.Err() == nil {
			t.count(err)
		}
		harness.Sleep(ctx, 200*time.Millisecond)
	}
	return nil
}
