package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cacheNamespaces returns the namespaces that the manager's cache holds objects of, nil for all.
func cacheNamespaces(namespaces []string) map[string]cache.Config {
	if len(namespaces) == 0 {
		return nil
	}
	all := map[string]cache.Config{}
	for _, name := range namespaces {
		all[name] = cache.Config{}
	}
	return all
}

// inNamespaces returns a reader of the given namespaces only, or reader itself if there are none. A
// manager that serves them may not list objects of all namespaces.
func inNamespaces(reader client.Reader, namespaces []string) client.Reader {
	if len(namespaces) == 0 {
		return reader
	}
	return namespacesReader{Reader: reader, namespaces: slices.Compact(slices.Sorted(slices.Values(namespaces)))}
}

type namespacesReader struct {
	client.Reader
	namespaces []string
}

// List lists the objects of all namespaces of the reader, unless an option names one. With a limit, a
// page holds objects of one namespace; its continue token begins with the namespace.
func (r namespacesReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(options)
	if o.Namespace != "" {
		return r.Reader.List(ctx, list, options...)
	}
	if o.Limit > 0 {
		return r.page(ctx, list, o)
	}
	var all []runtime.Object
	for _, namespace := range r.namespaces {
		o.Namespace = namespace
		if err := r.Reader.List(ctx, list, &o); err != nil {
			return err
		}
		items, err := meta.ExtractList(list.DeepCopyObject())
		if err != nil {
			return fmt.Errorf("read the list of namespace %s: %w", namespace, err)
		}
		all = append(all, items...)
	}
	list.SetResourceVersion("")
	return meta.SetList(list, all)
}

func (r namespacesReader) page(ctx context.Context, list client.ObjectList, o client.ListOptions) error {
	at, token := 0, ""
	if o.Continue != "" {
		var namespace string
		namespace, token, _ = strings.Cut(o.Continue, "/")
		if at = slices.Index(r.namespaces, namespace); at < 0 {
			return fmt.Errorf("continue a list in namespace %q: it isn't served", namespace)
		}
	}
	o.Namespace, o.Continue = r.namespaces[at], token
	if err := r.Reader.List(ctx, list, &o); err != nil {
		return err
	}
	switch rest := list.GetContinue(); {
	case rest != "":
		list.SetContinue(r.namespaces[at] + "/" + rest)
	case at+1 < len(r.namespaces):
		list.SetContinue(r.namespaces[at+1] + "/")
	}
	return nil
}
