package adapter

import "regexp"

// javaError matches what a Java virtual machine writes about an exception that nothing caught.
var javaError = regexp.MustCompile(`^Exception in thread "|^Exception: java\.lang\.\w+ thrown from|^java\.lang\.OutOfMemoryError\b|^Terminating due to java\.lang\.OutOfMemoryError\b`)

// IsJavaError reports whether a line is that of a Java virtual machine about an exception that nothing caught.
func IsJavaError(line string) bool { return javaError.MatchString(line) }
