#!/bin/sh
# Creates the BenchmarkRun of a manifest and waits for its verdict, with kubectl alone.
#
#   run.sh MANIFEST [TIMEOUT]     TIMEOUT is that of kubectl wait, 30m if not set
#
# Exits with 0 if the run passed, 1 if it has another verdict, 2 if it didn't finish in time.
set -eu

run=$(kubectl create -f "$1" -o name)
if ! kubectl wait --for=condition=Finished --timeout="${2:-30m}" "$run"; then
  kubectl get "$run" -o jsonpath='{.status.conditions[?(@.type=="Succeeded")].message}{"\n"}'
  exit 2
fi
verdict=$(kubectl get "$run" -o jsonpath='{.status.verdict}')
echo "$run: $verdict"
if [ "$verdict" != Passed ]; then
  kubectl get "$run" -o jsonpath='{.status.conditions[?(@.type=="Stalled")].message}{"\n"}'
  exit 1
fi
kubectl get "$run" -o jsonpath='{.status.result.requestsPerSecond} requests/s, p99 {.status.result.latency.total.p99Microseconds} us{"\n"}'
