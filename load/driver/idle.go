package driver

// dropIfEnded closes an idle connection if the server has closed it, as servers do
// after a keep-alive timeout. A request on it could only fail, and that wouldn't be
// an error of the server.
func (c *connection) dropIfEnded() {
	if c.shared != nil {
		return // the reader of the HTTP/2 connection notices
	}
	if c.wire != nil && c.transport != nil && c.wire.hasEnded() {
		c.drop()
	}
}
