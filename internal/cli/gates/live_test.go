package gates

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// manages is an API server with one Deployment of Kruise's manager.
func manages(t *testing.T, status int, args string) *rest.Config {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis/apps/v1/namespaces/kruise-system/deployments" || !strings.Contains(r.URL.RawQuery, "controller-manager") {
			t.Errorf("asked for %s", r.URL)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		items := ""
		if args != "" {
			items = `{"metadata": {"name": "m"}, "spec": {"template": {"spec": {"containers": [{"name": "manager", "command": ["/manager"], "args": [` + args + `]}]}}}}`
		}
		_, _ = w.Write([]byte(`{"kind": "DeploymentList", "apiVersion": "apps/v1", "items": [` + items + `]}`))
	}))
	t.Cleanup(s.Close)
	return &rest.Config{Host: s.URL}
}

func TestLive(t *testing.T) {
	usual := cluster.DefaultGates()
	guarded := usual
	guarded.GuardUpdates = true
	for name, c := range map[string]struct {
		status int
		args   string
		flag   []string
		want   Set
		unread bool
	}{
		"no Kruise":          {200, "", nil, Set{Gates: usual}, false},
		"defaults":           {200, `"--metrics-addr=:8080"`, nil, Set{Gates: usual}, false},
		"one argument":       {200, `"--feature-gates=PodUnavailableBudgetUpdateGate=true,KruisePodReadinessGate=true"`, nil, Set{Gates: guarded, ReadinessGate: true}, false},
		"two arguments":      {200, `"--feature-gates", "PodUnavailableBudgetUpdateGate=true,Unknown=true"`, nil, Set{Gates: guarded}, false},
		"off":                {200, `"--feature-gates=InPlaceUpdateEnvFromMetadata=false"`, nil, Set{}, false},
		"the flag wins":      {200, `"--feature-gates=PodUnavailableBudgetUpdateGate=true"`, []string{"PodUnavailableBudgetUpdateGate=false"}, Set{Gates: usual}, false},
		"the flag adds":      {200, `"--feature-gates=PodUnavailableBudgetUpdateGate=true"`, []string{"KruisePodReadinessGate=true"}, Set{Gates: guarded, ReadinessGate: true}, false},
		"forbidden":          {403, "", nil, Set{Gates: usual}, true},
		"forbidden, flagged": {403, "", []string{"PodUnavailableBudgetUpdateGate=true"}, Set{Gates: guarded}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, unread, err := Live(t.Context(), manages(t, c.status, c.args), c.flag)
			if err != nil || got != c.want || (unread != "") != c.unread {
				t.Errorf("%+v, unread %q, %v\nwant %+v", got, unread, err, c.want)
			}
		})
	}
	if _, _, err := Live(t.Context(), manages(t, 200, `"x"`), []string{"Nope=true"}); err == nil {
		t.Error("an unknown gate is taken")
	}
}
