package change

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest/fake"
)

// TestProtect_WarnsWhereTheServerWouldDelete: only where the server would delete the object, asked by a dry run.
func TestProtect_WarnsWhereTheServerWouldDelete(t *testing.T) {
	for code, want := range map[int]bool{http.StatusOK: true, http.StatusForbidden: false, http.StatusInternalServerError: false} {
		answer := func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			if r.Method != http.MethodDelete || !strings.Contains(string(body), `"dryRun":["All"]`) {
				t.Errorf("%s %s: %s", r.Method, r.URL, body)
			}
			reply := `{"kind":"Status","apiVersion":"v1","status":"Success"}`
			return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(reply))}, nil
		}
		gv := schema.GroupVersion{Group: "apps", Version: "v1"}
		info := &resource.Info{
			Namespace: "a", Name: "web",
			Client:  &fake.RESTClient{GroupVersion: gv, NegotiatedSerializer: scheme.Codecs.WithoutConversion(), Client: fake.CreateHTTPClient(answer)},
			Mapping: &meta.RESTMapping{Resource: gv.WithResource("deployments"), GroupVersionKind: gv.WithKind("Deployment"), Scope: meta.RESTScopeNamespace},
		}
		var said bytes.Buffer
		if err := (protectionWarnings{&said}).wrote(info); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(said.String(), "nothing refuses to delete deployments/web"); got != want {
			t.Errorf("%d: %q", code, &said)
		}
	}
}
