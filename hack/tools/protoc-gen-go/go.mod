// The Go plugin of buf, in the version of the runtime that the code is linked with.
module github.com/assay-dev/assay/hack/tools/protoc-gen-go

go 1.26.0

tool google.golang.org/protobuf/cmd/protoc-gen-go

require google.golang.org/protobuf v1.36.12 // indirect
