package bucket

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/aws/smithy-go"
	"gocloud.dev/gcerrors"
	"google.golang.org/api/googleapi"
)

// ErrNotFound reports that an object or its bucket does not exist.
var ErrNotFound = errors.New("not found")

// failure is an error of a storage service in one line. It has no address with a query, which may have credentials.
type failure struct {
	text string
	kind error // ErrNotFound, the error of the context, or nil
}

// Error implements error.
func (f *failure) Error() string { return f.text }

// Unwrap returns what errors.Is can find.
func (f *failure) Unwrap() error { return f.kind }

// maxText limits the text of a service in an error.
const maxText = 300

// explain returns the error of an SDK as users read it: what the service said, and the fix if there is one.
func explain(ctx context.Context, err error) error {
	f := &failure{}
	text := clean(said(err))
	switch code := gcerrors.Code(err); {
	case ctx.Err() != nil:
		f.kind, f.text = ctx.Err(), "no answer in time"
		if text != "" && text != context.DeadlineExceeded.Error() {
			f.text += ": " + text
		}
	case code == gcerrors.NotFound:
		f.kind, f.text = ErrNotFound, "not found: "+text
	case code == gcerrors.PermissionDenied || denied(err):
		f.text = fmt.Sprintf("access denied: %s. Check the credentials and the policy of the bucket", strings.TrimSuffix(text, "."))
	default:
		f.text = text
	}
	return f
}

// said returns what a service or the network said, without the layers of SDKs around it.
func said(err error) string {
	var s3 smithy.APIError
	var azure *azcore.ResponseError
	var google *googleapi.Error
	var transport *url.Error
	switch {
	case errors.As(err, &s3):
		return s3.ErrorCode() + ": " + s3.ErrorMessage()
	case errors.As(err, &azure):
		return fmt.Sprintf("%s (status %d)", azure.ErrorCode, azure.StatusCode)
	case errors.As(err, &google):
		return fmt.Sprintf("%s (status %d)", google.Message, google.Code)
	case errors.As(err, &transport): // its own text has the address
		return transport.Err.Error()
	}
	return err.Error()
}

// denied reports whether an error of S3 is about credentials: package s3blob knows none of them.
func denied(err error) bool {
	var s3 smithy.APIError
	if !errors.As(err, &s3) {
		return false
	}
	switch s3.ErrorCode() {
	case "AccessDenied", "Forbidden", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken":
		return true
	}
	return false
}

func clean(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}
