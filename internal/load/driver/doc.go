// Package driver makes the requests of a plan: HTTP/1.1 or HTTP/2 over TCP, on many connections. The driver never retries a request:
// a failure is an outcome, and the next request opens a new connection. A Recorder receives the outcomes. The caller decides when
// stages start.
//
// # What runs a load
//
// A Load is a plan against a target. A Stage of it has connections, each of which makes one request after the other (connection.go,
// exchange.go). Two engines run them:
//
//   - A loop runs connections of HTTP/1.1 as coroutines (loop.go, task.go), since that costs less CPU than goroutines. It waits
//     with epoll instances of its own (poller.go). Once a load without think time repeats the same requests and responses, the
//     loop makes them itself and leaves the coroutines alone (plain.go).
//   - A goroutine runs each connection that has to wait for two things at once: a stream of HTTP/2, and a connection that sends a
//     long body while the response is read. It also does if a loop gets no descriptors.
//
// Either engine runs a closed load (pace.go: think time and profiles), an open load (arrivals.go), and users who load pages over several
// connections (pages.go, not with HTTP/2). What a connection waits for, other than its transport, is in wait.go.
//
// # What is called a connection
//
//   - connection makes the requests: one HTTP/1.1 connection after the other, or one stream of HTTP/2.
//   - transport is what it writes to and reads from: the socket of a task, a goSocket of a goroutine, or a tlsTransport on either.
//     endpoint opens sockets (tcp.go has the system calls).
//   - task is a connection in a loop.
//   - pageUser is a user who loads pages, with several connections.
//   - sharedConnection has the streams of one HTTP/2 connection of the plan, and opens the http2.Connection that they use. An http2.Stream
//     is one request on that.
//   - response.Reader reads the responses of a connection.
//
// # Packages
//
//   - request: which requests are made, as text, with cookies, digests and redirects
//   - response: reads HTTP/1.1 responses
//   - http2: frames, streams and header sections
//   - fault: what kind of error an outcome has
package driver
