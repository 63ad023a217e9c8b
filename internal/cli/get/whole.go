package get

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// groups are those whose kinds have columns of ours.
var groups = []string{kruise.Group, kruise.PolicyGroup, release.Group}

// whole asks the server for whole objects with the tables of our kinds: its own
// tables carry no more than the metadata.
func whole(c *rest.Config) {
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return wholeTables{next} })
}

type wholeTables struct{ next http.RoundTripper }

func (w wholeTables) RoundTrip(r *http.Request) (*http.Response, error) {
	if ours(r) {
		r = r.Clone(r.Context())
		q := r.URL.Query()
		q.Set("includeObject", "Object")
		r.URL.RawQuery = q.Encode()
	}
	return w.next.RoundTrip(r)
}

// ours reports whether a request asks for a table of a group of ours.
func ours(r *http.Request) bool {
	_, after, found := strings.Cut(r.URL.Path, "/apis/")
	group, _, _ := strings.Cut(after, "/")
	return found && slices.Contains(groups, group) && strings.Contains(r.Header.Get("Accept"), "as=Table")
}
