package testserver

import "fmt"

// head returns the head of a response with a body of the given length.
func head(status string, length int) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nServer: testserver\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n", status, length)
}

// Status returns an answer with a short body and the given status, for example
// "500 Internal Server Error".
func Status(status string) Answer {
	const body = "as you wished\n"
	return Answer{Parts: []string{head(status, len(body)) + body}, Body: len(body)}
}

// Text returns an answer that consists of exactly these parts, with body bytes of body in them.
func Text(body int, then Ending, parts ...string) Answer {
	return Answer{Parts: parts, Body: body, Then: then}
}
