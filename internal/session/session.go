// Package session holds what both ends of a session share: the plan of a client and the rest of what they send each
// other, its encoding, and its checks and limits. The manager's end is in package manager, the pods' end in pod, the
// protocol itself in sessionpb.
//
// Each noun is one Go type. What is sent once or seldom is JSON, by Encode and by a function Decode of each type, which
// bounds and checks what has come. What every pod sends in each second (seconds.go, server_sample.go) has a message of its
// own, which is smaller.
package session

const (
	// Audience is the audience of the service account tokens with which pods authenticate.
	Audience = "assay"

	// MaxMessageBytes bounds a message in either direction.
	MaxMessageBytes = 4 << 20

	// TokenPath is the path of a pod's token.
	TokenPath = "/var/run/assay/token"
	// CAPath is the path of the CA certificates with which a pod verifies the manager.
	CAPath = "/var/run/assay/ca.crt"

	// ServerName is the name in the manager's serving certificate.
	ServerName = "assay-session"
)
