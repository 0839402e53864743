package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/test/harness"
)

// simulated is a pod's end of a session. It sends what a client or an agent sends, and pings after
// each sample second: the answer says which messages the manager has merged.
type simulated struct {
	rpc      grpc.BidiStreamingClient[sessionpb.PodMessage, sessionpb.ManagerMessage]
	conn     *grpc.ClientConn
	role     sessionpb.Role
	index    int
	workload *workload

	began  int64 // the start of the measurement, or 0
	number uint64
	// ends holds the ends of the seconds that the manager hasn't acknowledged, by message.
	ends map[uint64]int64
	sent int // seconds
}

func now() int64 { return time.Now().UnixMicro() }

// newSession connects a pod with a token that the API server issues for it.
func (k *kubelet) newSession(ctx context.Context, pod *corev1.Pod) (*simulated, error) {
	ca, err := k.ca(ctx, pod.Labels[manifest.LabelRun])
	if err != nil {
		return nil, err
	}
	token, err := harness.Token(ctx, k.clientset, pod)
	if err != nil {
		return nil, fmt.Errorf("create a token for pod %s: %w", pod.Name, err)
	}
	s := &simulated{role: sessionpb.Role_ROLE_AGENT, workload: k.workload, ends: map[uint64]int64{}}
	if pod.Labels[manifest.LabelRole] == manifest.RoleClient {
		s.role = sessionpb.Role_ROLE_CLIENT
		if s.index, err = strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation]); err != nil {
			return nil, err
		}
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	// Pods have addresses of their own.
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 1, byte(rand.IntN(256)), byte(1+rand.IntN(254)))}}
	s.conn, err = grpc.NewClient("passthrough:///"+k.manager.session, grpc.WithNoProxy(), grpc.WithWriteBufferSize(session.WriteBufferBytes),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", address)
		}),
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{ServerName: session.ServerName, RootCAs: roots, MinVersion: tls.VersionTLS13})))
	if err != nil {
		return nil, err
	}
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	for { // until the manager knows the pod
		s.rpc, err = sessionpb.NewSessionsClient(s.conn).Join(ctx)
		if err == nil {
			err = s.hello()
		}
		switch status.Code(err) {
		case codes.OK:
			return s, nil
		case codes.Unavailable, codes.Unauthenticated, codes.PermissionDenied, codes.Aborted, codes.ResourceExhausted:
			k.workload.retried(err)
		default:
			return nil, errors.Join(err, s.conn.Close())
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50*time.Millisecond + rand.N(200*time.Millisecond)):
		}
	}
}

func (s *simulated) hello() error {
	if err := s.rpc.Send(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_Hello{Hello: &sessionpb.Hello{
		Role: s.role, Instance: 1, Protocol: session.ProtocolVersion,
	}}}); err == nil {
		_, err := s.rpc.Recv() // Welcome
		return err
	}
	_, err := s.rpc.Recv()
	return err
}

// join takes part in the run until the manager releases the pod.
func (s *simulated) join(ctx context.Context) error {
	defer func() { _ = s.conn.Close() }()
	received, failed := make(chan *sessionpb.ManagerMessage), make(chan error, 1)
	go func() {
		for {
			m, err := s.rpc.Recv()
			if err != nil {
				failed <- err
				return
			}
			select {
			case received <- m:
			case <-ctx.Done():
				return
			}
		}
	}()
	next := time.NewTimer(time.Hour)
	defer next.Stop()
	if s.role == sessionpb.Role_ROLE_AGENT {
		next.Reset(0)
	}
	for {
		select {
		case m := <-received:
			if m.GetRelease() != nil {
				return nil
			}
			if err := s.handle(m); err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			if m.GetStart().GetStage() == sessionpb.Stage_STAGE_MEASUREMENT && s.role == sessionpb.Role_ROLE_CLIENT {
				next.Reset(s.untilSecond())
			}
		case <-next.C:
			again, err := s.due()
			if errors.Is(err, io.EOF) { // the manager has ended the session: what is received says why
				continue
			} else if err != nil {
				return err
			}
			next.Reset(again)
		case err := <-failed:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *simulated) handle(m *sessionpb.ManagerMessage) error {
	switch m := m.GetMessage().(type) {
	case *sessionpb.ManagerMessage_Watch:
		data, err := session.Encode(&session.ProbeResult{Software: "benchmanager", DocumentLength: 1000})
		if err != nil {
			return err
		}
		return s.rpc.Send(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_ProbeSucceeded{ProbeSucceeded: data}})
	case *sessionpb.ManagerMessage_Sample:
		return s.sample(true)
	case *sessionpb.ManagerMessage_Prepare:
		return s.rpc.Send(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_Ready{Ready: &sessionpb.Ready{Cpus: "0"}}})
	case *sessionpb.ManagerMessage_Start:
		if m.Start.GetStage() == sessionpb.Stage_STAGE_MEASUREMENT && s.role == sessionpb.Role_ROLE_CLIENT {
			s.began = m.Start.GetAt()
			s.workload.start()
		}
	case *sessionpb.ManagerMessage_Pong:
		arrived := now()
		for number, end := range s.ends {
			if number < m.Pong.GetNextNumber() {
				s.workload.merged(time.Duration(arrived-end) * time.Microsecond)
				delete(s.ends, number)
			}
		}
	}
	return nil
}

// due sends what is due, and returns the time until the next.
func (s *simulated) due() (time.Duration, error) {
	if s.role == sessionpb.Role_ROLE_AGENT {
		return time.Second, s.sample(false)
	}
	if s.sent == s.workload.seconds {
		return time.Hour, s.totals()
	}
	second, err := session.SecondToWire(sessionpb.Stage_STAGE_MEASUREMENT, s.workload.second(s.index, s.sent), 0)
	if err != nil {
		return 0, err
	}
	s.number++
	s.sent++
	s.ends[s.number] = s.began + int64(s.sent)*1_000_000
	if err := s.rpc.Send(&sessionpb.PodMessage{Number: s.number, Message: &sessionpb.PodMessage_ClientSample{ClientSample: second}}); err != nil {
		return 0, err
	}
	if s.sent == s.workload.seconds {
		return 0, s.ping()
	}
	return s.untilSecond(), s.ping()
}

// untilSecond returns the time until the end of the next second.
func (s *simulated) untilSecond() time.Duration {
	return max(time.Duration(s.began+int64(s.sent+1)*1_000_000-now())*time.Microsecond, 0)
}

func (s *simulated) ping() error {
	return s.rpc.Send(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_Ping{Ping: &sessionpb.Ping{Sent: now()}}})
}

func (s *simulated) sample(requested bool) error {
	s.number++
	usage := &result.ServerSample{Server: result.ServerUsage{At: now(), UserCPU: now() / 2, Resident: 1 << 28, MaxResident: 1 << 28, CPUs: "0", AgentCPUs: "1"}}
	message := session.ServerSampleToWire(usage)
	message.Requested = requested
	return s.rpc.Send(&sessionpb.PodMessage{Number: s.number, Message: &sessionpb.PodMessage_ServerSample{ServerSample: message}})
}

func (s *simulated) totals() error {
	totals := *s.workload.totals(s.index)
	totals.StartedAt, totals.EndedAt = s.began, s.began+int64(s.workload.seconds)*1_000_000
	data, err := session.EncodeTotals(&totals)
	if err != nil {
		return err
	}
	s.number++
	return s.rpc.Send(&sessionpb.PodMessage{Number: s.number, Message: &sessionpb.PodMessage_ClientTotals{ClientTotals: &sessionpb.ClientTotals{Totals: data}}})
}
