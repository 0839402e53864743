// Command etcd is the etcd server as its own project builds it. It keeps the
// state of the local cluster and of the API server that the tests start.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
