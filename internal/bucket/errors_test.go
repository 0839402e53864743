package bucket

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/smithy-go"
	"google.golang.org/api/googleapi"
)

func TestExplain(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"S3": {
			&smithy.OperationError{ServiceID: "S3", OperationName: "PutObject", Err: &smithy.GenericAPIError{Code: "SlowDown", Message: "Reduce your\nrequest rate."}},
			"SlowDown: Reduce your request rate.",
		},
		"S3's credentials": {
			&smithy.GenericAPIError{Code: "SignatureDoesNotMatch", Message: "The signature differs."},
			"access denied: SignatureDoesNotMatch: The signature differs. Check the credentials and the policy of the bucket",
		},
		"Google": {&googleapi.Error{Code: 503, Message: "Backend error"}, "Backend error (status 503)"},
		"an address with a secret": {
			&url.Error{Op: "Put", URL: "https://assay.blob.core.windows.net/a?sig=secret", Err: errors.New("connection refused")},
			"connection refused",
		},
		"a long one": {errors.New(strings.Repeat("ä", maxText)), strings.Repeat("ä", maxText/2) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			got := explain(t.Context(), tc.err)
			if got.Error() != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
			var transport *url.Error
			if errors.As(got, &transport) {
				t.Error("the address can be had from the error")
			}
		})
	}
}

func TestExplainTimeout(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	<-ctx.Done()
	err := explain(ctx, &url.Error{Op: "Put", URL: "https://a?sig=secret", Err: ctx.Err()})
	if !errors.Is(err, context.DeadlineExceeded) || err.Error() != "no answer in time" {
		t.Errorf("%v", err)
	}
}
