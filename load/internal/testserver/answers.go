package testserver

import "fmt"

// head is a response's head with a Content-Length.
func head(status string, length int) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nServer: testserver\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n", status, length)
}

// Status is an answer with a status such as "500 Internal Server Error" and a
// short body.
func Status(status string) Answer {
	const body = "as you wished\n"
	return Answer{Parts: []string{head(status, len(body)) + body}, Body: len(body)}
}

// Text is an answer of exactly these parts.
func Text(body int, then Ending, parts ...string) Answer {
	return Answer{Parts: parts, Body: body, Then: then}
}
