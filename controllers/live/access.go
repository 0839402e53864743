package live

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/kubernetes"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

const (
	// reviewLifetime is the time for which the API server's answer about a token or a right is kept.
	reviewLifetime = 10 * time.Second
	reviewTimeout  = 10 * time.Second

	// The ConfigMap in which the API server publishes the CA of users' certificates. The Role
	// extension-apiserver-authentication-reader allows to read it.
	clientCANamespace = "kube-system"
	clientCAName      = "extension-apiserver-authentication"
	clientCAKey       = "client-ca-file"
)

// Access decides who may view a run.
type Access interface {
	// Check returns the user that a request comes from. An error, with the HTTP status to answer, says why the user may
	// not view the run.
	Check(r *http.Request, run types.NamespacedName) (user string, status int, err error)
}

// delegated asks the API server.
type delegated struct {
	authenticator authenticator.Request
	authorizer    authorizer.Authorizer
}

// NewAccess returns an Access that leaves both questions to the API server, as aggregated API servers do: who somebody is,
// by a TokenReview of a bearer token or by the CA of users' certificates, and whether they may get the run, by a
// SubjectAccessReview. Without the right to read that CA, users with certificates are not recognized.
func NewAccess(ctx context.Context, clientset kubernetes.Interface, log logr.Logger) (Access, error) {
	backoff := &wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 3}
	authentication := authenticatorfactory.DelegatingAuthenticatorConfig{
		TokenAccessReviewClient: clientset.AuthenticationV1(), TokenAccessReviewTimeout: reviewTimeout, WebhookRetryBackoff: backoff,
		CacheTTL: reviewLifetime,
	}
	if _, err := clientset.CoreV1().ConfigMaps(clientCANamespace).Get(ctx, clientCAName, metav1.GetOptions{}); err != nil {
		log.Info("Live figures are for users with tokens only: the CA of users' certificates can't be read", "error", err.Error())
	} else {
		ca, err := dynamiccertificates.NewDynamicCAFromConfigMapController("client-ca", clientCANamespace, clientCAName, clientCAKey, clientset)
		if err != nil {
			return nil, fmt.Errorf("read the CA of users' certificates: %w", err)
		}
		go ca.Run(ctx, 1)
		authentication.ClientCertificateCAContentProvider = ca
	}
	authenticator, _, err := authentication.New()
	if err != nil {
		return nil, fmt.Errorf("set up authentication: %w", err)
	}
	authorizer, err := authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: clientset.AuthorizationV1(), AllowCacheTTL: reviewLifetime, DenyCacheTTL: reviewLifetime,
		WebhookRetryBackoff: backoff,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("set up authorization: %w", err)
	}
	return &delegated{authenticator, authorizer}, nil
}

// Check implements Access.
func (d *delegated) Check(r *http.Request, run types.NamespacedName) (user string, status int, err error) {
	who, ok, err := d.authenticator.AuthenticateRequest(r)
	switch {
	case err != nil:
		return "", http.StatusUnauthorized, fmt.Errorf("the credentials were not accepted: %w", err)
	case !ok:
		return "", http.StatusUnauthorized, errors.New("a token or a client certificate of the cluster is required")
	}
	decision, reason, err := d.authorizer.Authorize(r.Context(), authorizer.AttributesRecord{
		User: who.User, Verb: "get", APIGroup: v1alpha1.GroupVersion.Group, APIVersion: v1alpha1.GroupVersion.Version, Resource: "benchmarkruns",
		Namespace: run.Namespace, Name: run.Name, ResourceRequest: true,
	})
	switch {
	case err != nil:
		return who.User.GetName(), http.StatusServiceUnavailable, fmt.Errorf("ask the API server for the right to get the run: %w", err)
	case decision != authorizer.DecisionAllow:
		if reason != "" {
			reason = ": " + reason
		}
		return who.User.GetName(), http.StatusForbidden, fmt.Errorf("user %q may not get benchmarkruns.assay.dev %q in namespace %q%s", who.User.GetName(), run.Name, run.Namespace, reason)
	}
	return who.User.GetName(), http.StatusOK, nil
}

// quiet returns a logger for what net/http has to say about connections, such as failed handshakes.
func quiet(to logr.Logger) *log.Logger {
	return log.New(writer{to}, "", 0)
}

type writer struct{ log logr.Logger }

// Write implements io.Writer.
func (w writer) Write(text []byte) (int, error) {
	w.log.V(1).Info("Connection failed", "error", string(text))
	return len(text), nil
}
