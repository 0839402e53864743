package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// restricted is a reader of an API server that refuses lists of all namespaces, and of c. It lists at
// most one object at a time if a limit is set.
func restricted(t *testing.T) client.Reader {
	t.Helper()
	builder := fake.NewClientBuilder()
	for _, namespace := range []string{"a", "b", "c"} {
		for n := range 3 {
			name := fmt.Sprintf("%s%d", namespace, n)
			builder.WithObjects(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"n": fmt.Sprint(n)}}})
		}
	}
	return interceptor.NewClient(builder.Build(), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			var o client.ListOptions
			o.ApplyOptions(options)
			if o.Namespace != "a" && o.Namespace != "b" {
				return errors.New("forbidden: " + o.Namespace)
			}
			if err := c.List(ctx, list, client.InNamespace(o.Namespace), &client.ListOptions{LabelSelector: o.LabelSelector}); err != nil || o.Limit == 0 {
				return err
			}
			pods := list.(*corev1.PodList)
			at := len(o.Continue) // "", "x" and "xx"
			if at+1 < len(pods.Items) {
				pods.Continue = o.Continue + "x"
			}
			pods.Items = pods.Items[at : at+1]
			return nil
		},
	})
}

func names(pods *corev1.PodList) []string {
	var all []string
	for i := range pods.Items {
		all = append(all, pods.Items[i].Name)
	}
	return all
}

func TestReaderOfNamespaces(t *testing.T) {
	reader := inNamespaces(restricted(t), []string{"b", "a", "b"})
	for name, test := range map[string]struct {
		options []client.ListOption
		want    []string
	}{
		"all":      {nil, []string{"a0", "a1", "a2", "b0", "b1", "b2"}},
		"one":      {[]client.ListOption{client.InNamespace("b")}, []string{"b0", "b1", "b2"}},
		"by label": {[]client.ListOption{client.MatchingLabels{"n": "1"}}, []string{"a1", "b1"}},
	} {
		var pods corev1.PodList
		if err := reader.List(t.Context(), &pods, test.options...); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, names(&pods)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	var paged []string
	for token := ""; ; {
		var page corev1.PodList
		if err := reader.List(t.Context(), &page, client.Limit(1), client.Continue(token)); err != nil {
			t.Fatal(err)
		}
		paged = append(paged, names(&page)...)
		if token = page.Continue; token == "" {
			break
		}
	}
	if diff := cmp.Diff([]string{"a0", "a1", "a2", "b0", "b1", "b2"}, paged); diff != "" {
		t.Errorf("page by page: %s", diff)
	}
	if err := reader.List(t.Context(), &corev1.PodList{}, client.Limit(1), client.Continue("c/x")); err == nil {
		t.Error("a token of a namespace that isn't served was accepted")
	}
}

func TestReaderOfAllNamespacesIsTheReader(t *testing.T) {
	if _, one := inNamespaces(restricted(t), nil).(namespacesReader); one || cacheNamespaces(nil) != nil {
		t.Error("a manager of all namespaces lists them one by one")
	}
}
