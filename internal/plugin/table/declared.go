package table

import (
	"strings"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/target"
)

// declared is the row of a run without a result: what its spec says.
func declared(run *v1alpha1.BenchmarkRun, why string) report.Row {
	load := &run.Spec.Load
	row := report.Row{
		Namespace: run.Namespace, Name: run.Name, NoResult: why,
		Connector: connector(target.Describe(&run.Spec.Target), &run.Spec.Target),
		KeepAlive: load.Connection.KeepAlive != v1alpha1.KeepAliveDisabled,
	}
	if plans := loadplan.Plans(run, nil); len(plans) > 0 {
		row.Connections = int64(plans[0].Connections)
	}
	row.AskedPerSecond, row.Sequential = loadplan.AskedPerSecond(&run.Spec), load.Order == v1alpha1.OrderSequential
	if a := load.Authentication; a != nil {
		row.Authentication = string(a.Scheme)
	}
	if from := load.RequestsFrom; from != nil {
		row.RequestList = &result.RequestList{ConfigMap: from.ConfigMapKeyRef.Name, Key: from.ConfigMapKeyRef.Key}
	}
	for _, q := range load.Requests {
		method := string(q.Method)
		if q.Method == v1alpha1.MethodGet {
			method = ""
		}
		row.Requests = append(row.Requests, result.Request{
			Method: method, Path: q.Path, Weight: int64(ptr.Deref(q.Weight, 1)), Length: lengthOf(run.Spec.Target.Content, q.Path),
		})
	}
	if tls := run.Spec.Target.TLS; tls != nil {
		row.TLS = &report.RowTLS{}
		var protocols, ciphers []string
		for _, p := range tls.Protocols {
			protocols = append(protocols, string(p))
		}
		for _, suite := range tls.Ciphers {
			ciphers = append(ciphers, string(suite))
		}
		row.TLS.Protocol, row.TLS.Cipher = strings.Join(protocols, "/"), strings.Join(ciphers, "/")
	}
	return row
}

// lengthOf is the length of a file of the content, -1 when the path isn't one
// that is generated.
func lengthOf(content []v1alpha1.ContentFile, path string) int64 {
	for _, file := range content {
		if file.Path == path && file.SizeBytes > 0 {
			return file.SizeBytes
		}
	}
	return -1
}

// connector adds to the description of a target what tells it from others in a
// table: what its Tomcat speaks TLS by, if it does ("Tomcat NIO + JSSE"), and of
// a server that Assay doesn't configure which it is ("Generic nginx:1.28").
func connector(description string, t *v1alpha1.Target) string {
	switch {
	case t.Server.Generic != nil:
		return description + " " + shortImage(t.Image)
	case t.Server.External != nil:
		return description + " " + t.Server.External.URL
	case t.TLS == nil || t.Server.Tomcat == nil:
		return description
	case t.TLS.Implementation != "":
		return description + " + " + string(t.TLS.Implementation)
	case t.Server.Tomcat.Connector.Protocol == v1alpha1.TomcatAPR:
		return description + " + " + string(v1alpha1.TLSOpenSSL)
	}
	return description + " + " + string(v1alpha1.TLSJSSE)
}

// shortImage is an image's name without its registry, folders and digest.
func shortImage(image string) string {
	name, _, _ := strings.Cut(image, "@")
	return name[strings.LastIndex(name, "/")+1:]
}
