package adapter

import "regexp"

// javaError matches what a Java virtual machine writes about an exception that nothing caught, and when it stops compiling.
var javaError = regexp.MustCompile(`^Exception in thread "|^Exception: java\.lang\.\w+ thrown from|^java\.lang\.OutOfMemoryError\b|^Terminating due to java\.lang\.OutOfMemoryError\b` +
	`|^\S.* VM warning: Code(?:Cache|Heap '[^']*') is full\. Compiler has been disabled`)

// IsJavaError reports whether a line is such a line.
func IsJavaError(line string) bool { return javaError.MatchString(line) }
