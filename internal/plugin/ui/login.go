package ui

import (
	"cmp"
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	"k8s.io/client-go/rest"

	"github.com/assay-dev/assay/internal/plugin/cluster"
)

// apiLogin is the Login of a cluster.
type apiLogin struct{ config *rest.Config }

// NewLogin returns the Login of the cluster with the address and the CA of config, and without its credentials.
func NewLogin(config *rest.Config) Login { return &apiLogin{rest.AnonymousClientConfig(config)} }

// as returns the configuration of a token's user.
func (l *apiLogin) as(token string) *rest.Config {
	config := rest.CopyConfig(l.config)
	config.BearerToken = token
	return config
}

// User implements Login. Every user may ask who they are, by the role system:basic-user
// (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#self-subject-review).
func (l *apiLogin) User(ctx context.Context, token string) (string, error) {
	client, err := authenticationclient.NewForConfig(l.as(token))
	if err != nil {
		return "", fmt.Errorf("create a client: %w", err)
	}
	review, err := client.SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return review.Status.UserInfo.Username, nil
}

// Open implements Login.
func (l *apiLogin) Open(token string, scope Scope, limits Limits) (*App, error) {
	config := l.as(token)
	config.RateLimiter = limits.Requests
	config.Wrap(limits.Wrap)
	c, err := cluster.New(config, cmp.Or(scope.Namespace, metav1.NamespaceDefault))
	if err != nil {
		return nil, err
	}
	return NewApp(c, c.Namespace, scope), nil
}
