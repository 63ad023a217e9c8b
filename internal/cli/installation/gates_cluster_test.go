package installation

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// managerWith is an API server with one Deployment of Kruise's manager, none where there is no
// image. It serves what Kruise 1.9 does.
func managerWith(t *testing.T, status int, image, args string) *rest.Config {
	t.Helper()
	answers := map[string]*metav1.APIResourceList{}
	for _, text := range conformance.Definitions(t, "1.9") {
		d := struct {
			Spec struct {
				Group    string
				Names    struct{ Kind, Plural string }
				Versions []struct{ Name string }
			}
		}{}
		if err := yaml.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		for _, v := range d.Spec.Versions {
			at := d.Spec.Group + "/" + v.Name
			if answers["/apis/"+at] == nil {
				answers["/apis/"+at] = &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: at}
			}
			list := answers["/apis/"+at]
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: d.Spec.Names.Plural, Kind: d.Spec.Names.Kind})
		}
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/apis/apps/v1/namespaces/kruise-system/deployments" {
			answer, ok := answers[r.URL.Path]
			if !ok {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			_ = json.NewEncoder(w).Encode(answer)
			return
		}
		if !strings.Contains(r.URL.RawQuery, "controller-manager") {
			t.Errorf("asked for %s", r.URL)
		}
		w.WriteHeader(status)
		items := ""
		if image != "" {
			items = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "m"}, "spec": {"template": {"spec": {"containers": [{"name": "proxy", "image": "proxy"}, {"name": "manager", "image": "` + image + `", "command": ["/manager"], "args": [` + args + `]}]}}}}`
		}
		_, _ = w.Write([]byte(`{"kind": "DeploymentList", "apiVersion": "apps/v1", "items": [` + items + `]}`))
	}))
	t.Cleanup(s.Close)
	return &rest.Config{Host: s.URL}
}

func TestLive(t *testing.T) {
	const image, old = "openkruise/kruise-manager:v1.9.0", "openkruise/kruise-manager:v1.3.0"
	of := func(release string) Gates {
		r, err := kruise.ParseRelease(release)
		if err != nil {
			t.Fatal(err)
		}
		return GatesOf(r)
	}
	with := func(s Gates, change func(*Gates)) Gates {
		change(&s)
		return s
	}
	guarded := func(s *Gates) { s.GuardUpdates = true }
	usual := of("1.9.0")
	for name, c := range map[string]struct {
		status      int
		image, args string
		flags       []string
		want        Gates
		unread      bool
	}{
		"no controllers":      {200, "", "", nil, of("1.9"), false},
		"defaults":            {200, image, `"--metrics-addr=:8080"`, nil, usual, false},
		"of an older release": {200, old, "", nil, of("1.3.0"), false},
		"one argument":        {200, image, `"--feature-gates=PodUnavailableBudgetUpdateGate=true,KruisePodReadinessGate=true"`, nil, with(usual, func(s *Gates) { s.GuardUpdates, s.ReadinessGate = true, true }), false},
		"two arguments":       {200, image, `"--feature-gates", "PodUnavailableBudgetUpdateGate=true,Unknown=true"`, nil, with(usual, guarded), false},
		"off":                 {200, image, `"--feature-gates=InPlaceUpdateEnvFromMetadata=false"`, nil, with(usual, func(s *Gates) { s.InPlaceUpdateEnvFromMetadata = false }), false},
		"the flag wins":       {200, image, `"--feature-gates=PodUnavailableBudgetUpdateGate=true"`, []string{"--feature-gates=PodUnavailableBudgetUpdateGate=false"}, usual, false},
		"the flag adds":       {200, image, `"--feature-gates=PodUnavailableBudgetUpdateGate=true"`, []string{"--feature-gates=KruisePodReadinessGate=true"}, with(usual, func(s *Gates) { s.GuardUpdates, s.ReadinessGate = true, true }), false},
		"the release is said": {200, image, "", []string{"--kruise-version=1.3"}, of("1.3"), false},
		"forbidden":           {403, "", "", nil, of("1.9"), true},
		"forbidden, flagged":  {403, "", "", []string{"--feature-gates=PodUnavailableBudgetUpdateGate=true"}, with(of("1.9"), guarded), true},
	} {
		t.Run(name, func(t *testing.T) {
			got, unread, err := LiveGates(t.Context(), managerWith(t, c.status, c.image, c.args), gateFlags(t, c.flags...))
			if err != nil || got != c.want || (unread != "") != c.unread {
				t.Errorf("%+v, unread %q, %v\nwant %+v", got, unread, err, c.want)
			}
		})
	}
	for _, wrong := range []string{"--feature-gates=Nope=true", "--kruise-version=0.9"} {
		if _, _, err := LiveGates(t.Context(), managerWith(t, 200, image, ""), gateFlags(t, wrong)); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
	if cluster.DefaultGates() != (cluster.Gates{InPlaceUpdateEnvFromMetadata: true}) {
		t.Error("the gates of a release that is not known are not those of the newest one")
	}
}
