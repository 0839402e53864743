package door

import (
	"context"
	"net/http"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
)

const (
	// reviewTimeout bounds the two calls to the API server for a token. What it says is taken for a minute (reviewLifetime).
	reviewTimeout  = 10 * time.Second
	reviewLifetime = time.Minute
)

// Reviewer asks the API server whose a token is, and whether they may get a path. It does what controller-runtime's package
// metrics/filters does, without the libraries of an API server: these are an eighth of the manager's program.
type Reviewer struct {
	Tokens authenticationclient.TokenReviewInterface
	Access authorizationclient.SubjectAccessReviewInterface
}

// Authorize returns handler for the requests of those who may make them, by their tokens in the header Authorization.
func (r *Reviewer) Authorize(handler http.Handler) (http.Handler, error) {
	known := cache.NewLRUExpireCache(maxRemembered)
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		type question struct {
			token        any
			method, path string
		}
		asked := question{tokenOf(request), request.Method, request.URL.Path}
		status, is := known.Get(asked)
		if !is {
			code, sure := r.review(request)
			if status = code; sure {
				known.Add(asked, code, reviewLifetime)
			}
		}
		if status == http.StatusOK {
			handler.ServeHTTP(w, request)
			return
		}
		http.Error(w, http.StatusText(status.(int)), status.(int))
	}), nil
}

// review returns the status of a response, 200 if the request may be made. sure reports whether the API server decided it.
func (r *Reviewer) review(request *http.Request) (status int, sure bool) {
	scheme, token, _ := strings.Cut(request.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return http.StatusUnauthorized, false
	}
	ctx, cancel := context.WithTimeout(request.Context(), reviewTimeout)
	defer cancel()
	who, err := r.Tokens.Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	switch {
	case err != nil || who.Status.Error != "" && !who.Status.Authenticated:
		return http.StatusInternalServerError, false
	case !who.Status.Authenticated:
		return http.StatusUnauthorized, true
	}
	user := who.Status.User
	extra := map[string]authorizationv1.ExtraValue{}
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	may, err := r.Access.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, Groups: user.Groups, UID: user.UID, Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: request.URL.Path, Verb: strings.ToLower(request.Method)},
	}}, metav1.CreateOptions{})
	switch {
	case err != nil:
		return http.StatusInternalServerError, false
	case !may.Status.Allowed || may.Status.Denied:
		return http.StatusForbidden, true
	}
	return http.StatusOK, true
}
