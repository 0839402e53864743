// The local cluster that Assay is tried out and tested on.
module github.com/assay-dev/assay/hack/cluster

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/moby/sys/mount v0.3.5
	github.com/moby/sys/mountinfo v0.7.3
	github.com/prometheus/procfs v0.23.0
	github.com/spf13/cobra v1.10.2
	google.golang.org/grpc v1.85.0
	k8s.io/cri-api v0.36.3
)

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)
