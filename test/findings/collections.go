package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// collectingPage collects garbage once for each request, of a heap with 64 MiB in many objects, and prints how many
// collections there were and how long they took, by the virtual machine's own count.
const collectingPage = `<%@ page contentType="text/plain" session="false" %><%@ page import="java.lang.management.*" %><%!
static final byte[][] KEPT = new byte[65536][];
static { for (int i = 0; i < KEPT.length; i++) KEPT[i] = new byte[1000]; }
%><%
System.gc();
long n = 0, ms = 0;
for (GarbageCollectorMXBean b : ManagementFactory.getGarbageCollectorMXBeans()) { n += b.getCollectionCount(); ms += b.getCollectionTime(); }
System.out.println("collections " + n + " " + ms);
%>done`

const (
	collectionWarmup   = 10
	collectionRequests = 200
)

// collecting returns a run of collectingPage.
func collecting() *wrapper.Run {
	return wrapper.NewRun("", "", tomcatImage).Tomcat().Path("/"+pageFile).TargetResources("1", "1Gi").
		Clients(1, "500m", "128Mi").Requests(1, collectionRequests).Warmup(collectionWarmup)
}

// compareCollections compares the GC pauses of the result with the virtual machine's count, and with the number of
// requests: each is one collection at least.
func compareCollections(ctx context.Context, c *harness.Cluster, namespace string) ([]comparison, error) {
	const name = "collections"
	var made *v1alpha1.BenchmarkRun
	s := scenario{
		page:    collectingPage,
		run:     func() *wrapper.Run { return collecting().Retain(v1alpha1.RetainAlways) },
		disturb: func(_ context.Context, _ *harness.Cluster, run *v1alpha1.BenchmarkRun) error { made = run; return nil },
	}
	measured, err := s.make(ctx, c, namespace, name)
	if err != nil {
		return nil, err
	}
	pod, err := c.Pod(ctx, namespace, harness.TargetLabels(made))
	if err != nil {
		return nil, err
	}
	log, err := c.Kube.CoreV1().Pods(namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Container: "server"}).Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the log of the server: %w", err)
	}
	defer func() { _ = log.Close() }() // it was only read
	var counts, milliseconds []float64
	for lines := bufio.NewScanner(log); lines.Scan(); {
		_, line, found := strings.Cut(lines.Text(), "collections ")
		var n, ms float64
		if _, err := fmt.Sscan(line, &n, &ms); found && err == nil {
			counts, milliseconds = append(counts, n), append(milliseconds, ms)
		}
	}
	if len(counts) <= collectionRequests {
		return nil, fmt.Errorf("the server's log has %d collections", len(counts))
	}
	if measured.Server == nil || measured.Server.End.GCPauses == result.Unknown {
		return nil, fmt.Errorf("the GC pauses are unknown")
	}
	last := len(counts) - 1
	first := last - collectionRequests // the last before the measurement
	begin, end := &measured.Server.Begin, &measured.Server.End
	return []comparison{
		{"GC pauses", counts[last] - counts[first], float64(end.GCPauses - begin.GCPauses)},
		{"duration of GC pauses, ms", milliseconds[last] - milliseconds[first], float64(end.GCPause-begin.GCPause) / 1000},
	}, nil
}
