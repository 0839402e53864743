package pod

import (
	"log/slog"
	"os"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Mounted returns the configuration of a pod's session with the managers at
// host:port. It reads the token and the CA that the operator mounts.
func Mounted(addresses string, role sessionpb.Role, log *slog.Logger) Config {
	return Config{
		Addresses: addresses,
		Token: func() (string, error) {
			token, err := os.ReadFile(session.TokenPath)
			return string(token), err
		},
		CA:   func() ([]byte, error) { return os.ReadFile(session.CAPath) },
		Role: role,
		Log:  log,
	}
}
