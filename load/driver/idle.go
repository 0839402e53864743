package driver

// shed closes a connection on which nothing was asked for a while if the server
// has closed it meanwhile, as servers do with idle ones: a request on it could
// only fail, and that would be no failure of the server's.
func (c *connection) shed() {
	if c.shared != nil {
		return // its reader knows
	}
	if c.wire != nil && c.transport != nil && c.wire.hasEnded() {
		c.drop()
	}
}
