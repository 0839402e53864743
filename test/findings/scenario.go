package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

const (
	lane     = "findings"
	runLimit = 3 * time.Minute

	// scriptFile is the key of a run's script in its ConfigMap, pageFile that of a page.
	scriptFile = "script.js"
	pageFile   = "page.jsp"
)

// scenario is a run whose findings are known.
type scenario struct {
	name, about string
	// raises holds the findings that the run provokes, with their severity.
	raises map[string]result.Severity
	// near holds findings that it comes near and must not have.
	near []string
	run  func() *wrapper.Run
	// beside is the other run of a block whose loads alternate. If nil, the run is by itself.
	beside func() *wrapper.Run
	// script is the k6 script of the run, if it has one, and page that of the target at /page.jsp, if it has one.
	script, page string
	// disturb disturbs the run. It is called when the run has been created.
	disturb func(context.Context, *harness.Cluster, *v1alpha1.BenchmarkRun) error
}

// describe returns the name, what the run does, and what is expected of it.
func (s *scenario) describe() string {
	var expected []string
	for _, reason := range slices.Sorted(maps.Keys(s.raises)) {
		expected = append(expected, strings.ToLower(string(s.raises[reason]))+" by "+reason)
	}
	if len(s.near) > 0 {
		expected = append(expected, "no "+strings.Join(s.near, ", no "))
	}
	return fmt.Sprintf("%s: %s: %s", s.name, s.about, strings.Join(expected, "; "))
}

// make makes the run and returns its result.
func (s *scenario) make(ctx context.Context, c *harness.Cluster, namespace, name string) (*result.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // it ends what disturb has begun
	run := prepare(s.run, namespace, name)
	if s.beside != nil {
		other := prepare(s.beside, namespace, name+"-beside")
		run.Spec.Alternation = &v1alpha1.Alternation{Block: name, Variants: 2, Variant: ptr.To(int32(0))}
		other.Spec.Alternation = &v1alpha1.Alternation{Block: name, Variants: 2, Variant: ptr.To(int32(1))}
		if err := c.Create(ctx, other); err != nil {
			return nil, fmt.Errorf("create the run beside: %w", err)
		}
	}
	if s.page != "" {
		run.Spec.Target.Content = append(run.Spec.Target.Content,
			v1alpha1.ContentFile{Path: "/" + pageFile, ConfigMapKeyRef: &v1alpha1.ConfigMapKeyReference{Name: name, Key: pageFile}})
		if err := createFile(ctx, c, namespace, name, pageFile, s.page); err != nil {
			return nil, err
		}
	}
	if s.script != "" {
		run.Spec.Script.ConfigMapName = name
		if err := createFile(ctx, c, namespace, name, scriptFile, s.script); err != nil {
			return nil, err
		}
	}
	if err := c.Create(ctx, run); err != nil {
		return nil, fmt.Errorf("create the run: %w", err)
	}
	if s.disturb != nil {
		if err := s.disturb(ctx, c, run); err != nil {
			return nil, fmt.Errorf("disturb the run: %w", err)
		}
	}
	return c.Result(ctx, run, runLimit+time.Minute)
}

// prepare returns a run of the scenarios' lane.
func prepare(of func() *wrapper.Run, namespace, name string) *v1alpha1.BenchmarkRun {
	run := of().Lane(lane).Deadline(int32(runLimit.Seconds())).Obj()
	run.Namespace, run.Name = namespace, name
	return run
}

// createFile creates a ConfigMap with one file.
func createFile(ctx context.Context, c *harness.Cluster, namespace, name, file, text string) error {
	err := c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{file: text}})
	if err != nil {
		return fmt.Errorf("create ConfigMap %s: %w", name, err)
	}
	return nil
}

// judge returns what isn't as expected of findings.
func (s *scenario) judge(findings []result.Finding) []string {
	var wrong []string
	for _, reason := range slices.Sorted(maps.Keys(s.raises)) {
		i := slices.IndexFunc(findings, func(f result.Finding) bool { return f.Reason == reason })
		switch {
		case i < 0:
			wrong = append(wrong, "no "+reason)
		case findings[i].Severity != s.raises[reason]:
			wrong = append(wrong, fmt.Sprintf("%s %s, want %s", reason, strings.ToLower(string(findings[i].Severity)), strings.ToLower(string(s.raises[reason]))))
		}
	}
	for _, f := range findings {
		if slices.Contains(s.near, f.Reason) {
			wrong = append(wrong, f.Reason+", which is false")
		}
	}
	return wrong
}

// count returns the number of findings that warn and of those that invalidate.
func count(findings []result.Finding) (warnings, invalid int) {
	for i := range findings {
		switch findings[i].Severity {
		case result.Warns:
			warnings++
		case result.Invalidates:
			invalid++
		}
	}
	return warnings, invalid
}
