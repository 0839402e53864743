package driver

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/assay-dev/assay/load/recorder"
	"github.com/assay-dev/assay/load/usage"
)

// replierVariable makes the test binary serve instead, so that the benchmark
// can tell the client's CPU time from the server's.
const replierVariable = "ASSAY_BENCH_REPLIER"

func TestMain(m *testing.M) {
	if os.Getenv(replierVariable) != "" {
		if err := reply(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// BenchmarkClientCPU prints the client's user and system CPU time per request,
// with the recorder on: a response of 1 KiB, 25 connections, over loopback.
func BenchmarkClientCPU(b *testing.B) {
	address := replier(b)
	for _, test := range []struct {
		name      string
		keepAlive bool
	}{{"keepalive", true}, {"connection-each", false}} {
		b.Run(test.name, func(b *testing.B) {
			p := plan(25, int64(b.N), "/")
			p.KeepAlive = test.keepAlive
			p.Requests[0].Length = 1024
			load, err := New(b.Context(), &p, address, nil)
			if err != nil {
				b.Fatal(err)
			}
			r := recorder.New(runtime.GOMAXPROCS(0))
			stage := load.NewStage(p.Measurement, r)
			defer stage.Stop()
			go stage.Carry(0, 1)
			<-stage.Standing()

			b.ReportAllocs()
			b.ResetTimer()
			before := usage.Read()
			stage.Begin(time.Now())
			<-stage.Done()
			used := usage.Read().Since(before)
			b.StopTimer()
			b.ReportMetric(float64(used.UserCPU+used.SystemCPU)/float64(b.N), "client-µs/request")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}

// replier starts a server in a process of its own and returns its address.
func replier(b *testing.B) string {
	b.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), replierVariable+"=1")
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = input.Close()
		_ = command.Wait()
	})
	address, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(address)
}

// reply serves until the standard input ends.
func reply() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = listener.Close()
	}()
	for {
		conn, err := listener.Accept()
		if err != nil {
			return nil
		}
		go answer(conn)
	}
}

func answer(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	response := []byte("HTTP/1.1 200 OK\r\nServer: replier\r\nContent-Type: text/plain\r\nContent-Length: 1024\r\n\r\n" +
		strings.Repeat("x", 1024))
	buffer := make([]byte, 4096)
	for {
		// A request that comes in one segment, as this client's do.
		n, err := conn.Read(buffer)
		if err != nil {
			return
		}
		if _, err := conn.Write(response); err != nil || strings.Contains(string(buffer[:n]), "Connection: close") {
			return
		}
	}
}
