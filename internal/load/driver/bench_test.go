package driver

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/load/usage"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

// replierVariable makes the test binary a server, so that the benchmark can
// separate the client's CPU time from the server's. Its value is "http", or the
// directory with the certificate and key for TLS.
const replierVariable = "ASSAY_BENCH_REPLIER"

// driveVariable makes the test binary drive a target and print its CPU time and
// memory, for comparison with other programs. Its value is "URL CONNECTIONS
// REQUESTS KEEPALIVE", followed by the streams of each connection for HTTP/2.
const driveVariable = "ASSAY_BENCH_DRIVE"

func TestMain(m *testing.M) {
	if how := os.Getenv(driveVariable); how != "" {
		if err := driveTarget(how); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if how := os.Getenv(replierVariable); how != "" {
		if err := reply(how); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// BenchmarkClientCPU reports the client's user and system CPU time per request
// with the recorder on: responses of 1 KiB on 25 connections over loopback. With
// TLS, the certificates of the server and its CA have ECDSA keys.
func BenchmarkClientCPU(b *testing.B) {
	authority := tlstest.NewCA(b, "authority")
	// The server uses the files of a client certificate.
	directory := tlstest.Directory(b, tlstest.Files{CA: authority.PEM(), Client: authority.ECDSA(b)})
	plain, secure := replier(b, "http"), replier(b, directory)
	tls12 := &session.TLS{Protocols: []string{"TLSv1.2"}}
	tls13 := &session.TLS{Protocols: []string{"TLSv1.3"}}
	unverified := &session.TLS{Protocols: []string{"TLSv1.3"}, Unverified: true}
	resumed := &session.TLS{Protocols: []string{"TLSv1.3"}, Resume: true}
	for _, test := range []struct {
		name      string
		address   string
		keepAlive bool
		tls       *session.TLS
	}{
		{"keepalive", plain, true, nil},
		{"connection-each", plain, false, nil},
		{"keepalive-TLSv1.2", secure, true, tls12},
		{"keepalive-TLSv1.3", secure, true, tls13},
		{"connection-each-TLSv1.2", secure, false, tls12},
		{"connection-each-TLSv1.3", secure, false, tls13},
		{"connection-each-TLSv1.3-unverified", secure, false, unverified},
		{"connection-each-TLSv1.3-resumed", secure, false, resumed},
	} {
		b.Run(test.name, func(b *testing.B) {
			p := plan(25, int64(b.N), "/")
			p.KeepAlive, p.TLS = test.keepAlive, test.tls
			p.Requests[0].Length = 1024
			load, err := New(b.Context(), &p, test.address, Access{TLS: tlsConfig(b, &p, test.address, directory)})
			if err != nil {
				b.Fatal(err)
			}
			r := recorder.New(runtime.GOMAXPROCS(0))
			stage := load.NewStage(p.Measurement, r)
			defer stage.Stop()
			go stage.Run(0, 1)
			<-stage.Ready()

			b.ReportAllocs()
			b.ResetTimer()
			before := usage.Read()
			stage.Begin(time.Now())
			<-stage.Done()
			used := usage.Read().Since(before)
			b.StopTimer()
			b.ReportMetric(float64(used.UserCPU+used.SystemCPU)/float64(b.N), "client-µs/request")
			if total := r.Total(); total.Errors.Total() > 0 {
				b.Errorf("errors %v", total.Errors)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}

// replier starts a server in another process and returns its address.
func replier(b *testing.B, how string) string {
	b.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), replierVariable+"="+how)
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
func reply(how string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if how != "http" {
		own, err := tls.LoadX509KeyPair(filepath.Join(how, "client.crt"), filepath.Join(how, "client.key"))
		if err != nil {
			return err
		}
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{own}})
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
		// Each request of the driver arrives in one segment.
		n, err := conn.Read(buffer)
		if err != nil {
			return
		}
		if _, err := conn.Write(response); err != nil || strings.Contains(string(buffer[:n]), "Connection: close") {
			return
		}
	}
}

// driveTarget makes the requests that driveVariable specifies.
func driveTarget(how string) error {
	var address string
	p := plan(0, 0, "/")
	if _, err := fmt.Sscan(how+" 0", &address, &p.Connections, &p.Measurement.Requests, &p.KeepAlive, &p.Streams); err != nil {
		return err
	}
	target, err := url.Parse(address)
	if err != nil {
		return err
	}
	p.Requests[0].Path = target.RequestURI()
	access := Access{}
	if target.Scheme == "https" {
		p.TLS = &session.TLS{Unverified: true}
		if access.TLS, err = targettls.Config(p.TLS, target.Host, ""); err != nil {
			return err
		}
	}
	load, err := New(context.Background(), &p, target.Host, access)
	if err != nil {
		return err
	}
	r := recorder.New(runtime.GOMAXPROCS(0))
	stage := load.NewStage(p.Measurement, r)
	defer stage.Stop()
	go stage.Run(0, 1)
	<-stage.Ready()
	before, start := usage.Read(), time.Now()
	sampler := recorder.NewSampler(r, start, nil, func(*result.ClientSecond) {})
	stage.Begin(start)
	sampler.Run(stage.Done())
	used := usage.Read().Since(before)
	total := r.Total()
	fmt.Printf("%.3f µs of CPU time per request, %d errors, %d MiB, %.0f requests/s\n", float64(used.UserCPU+used.SystemCPU)/float64(total.Requests),
		total.Errors.Total(), used.MaxResident>>20, float64(total.Requests)/time.Since(start).Seconds())
	return nil
}
