package table

import (
	"strings"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/server"
)

// declared returns the row of a run without a result. It holds the configuration
// of the spec and the reason why there is no result.
func declared(run *v1alpha1.BenchmarkRun, why string) report.Row {
	load := &run.Spec.Load
	row := report.Row{
		Namespace: run.Namespace, Name: run.Name, NoResult: why,
		Connector: server.Label(server.Describe(&run.Spec.Target), &run.Spec.Target),
		KeepAlive: load.Connection.KeepAlive != v1alpha1.Disabled,
	}
	if plans := loadplan.Plans(run, nil); len(plans) > 0 {
		row.Connections = int64(plans[0].Connections)
	}
	row.TargetRatePerSecond, row.Sequential = loadplan.TargetRatePerSecond(&run.Spec), load.Order == v1alpha1.OrderSequential
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

// lengthOf returns the length of the generated file with the given path, or -1 if there is none.
func lengthOf(content []v1alpha1.ContentFile, path string) int64 {
	for _, file := range content {
		if file.Path == path && file.SizeBytes > 0 {
			return file.SizeBytes
		}
	}
	return -1
}
