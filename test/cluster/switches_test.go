package cluster_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/pki"
)

func TestStart_SetsSwitches(t *testing.T) {
	t.Parallel()
	const gate = "InPlacePodVerticalScalingExclusiveCPUs"
	c := cluster.Start(t, cluster.WithAudit(), cluster.WithNodes(),
		cluster.WithFeatureGate(gate, true),
		cluster.WithAPI("autoscaling/v1", false), cluster.WithAPI("internal.apiserver.k8s.io/v1alpha1", true))
	t.Run("audit", func(t *testing.T) { audited(t, c) })
	t.Run("API versions", func(t *testing.T) {
		has := apiVersions(t, c)
		if has["autoscaling/v1"] || !has["autoscaling/v2"] || !has["internal.apiserver.k8s.io/v1alpha1"] {
			t.Errorf("served: %v", has)
		}
	})
	for _, name := range []cluster.Component{cluster.APIServer, cluster.ControllerManager, cluster.Scheduler} {
		t.Run("gate of "+string(name), func(t *testing.T) {
			if !strings.Contains(metrics(t, c, name), `kubernetes_feature_enabled{name="`+gate+`",stage="ALPHA"} 1`) {
				t.Error("the feature is off")
			}
		})
	}
}

// audited changes something and finds it in the log, with its body; what only
// reads is not there.
func audited(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	c.Apply(t, "default", "{apiVersion: v1, kind: ConfigMap, metadata: {name: seen}, data: {a: b}}")
	events, err := c.Audit()
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for _, e := range events {
		if e.Verb == "get" || e.Verb == "list" || e.Verb == "watch" {
			t.Errorf("%s of %s", e.Verb, e.RequestURI)
		}
		if e.Verb == "patch" && e.ObjectRef.Name == "seen" && e.User.Username == "admin" {
			seen = strings.Contains(string(e.RequestObject.Raw), `"a":"b"`)
		}
	}
	if !seen {
		t.Errorf("the change is not among %d audited", len(events))
	}
}

// apiVersions are those that the cluster serves.
func apiVersions(t *testing.T, c *cluster.Cluster) map[string]bool {
	t.Helper()
	groups, err := c.Client().Discovery().ServerGroups()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			out[v.GroupVersion] = true
		}
	}
	return out
}

// metrics is what a component tells of itself. Only the API server knows tokens.
func metrics(t *testing.T, c *cluster.Cluster, name cluster.Component) string {
	t.Helper()
	pair, err := c.Issue(pki.Subject{Name: "reader", Groups: []string{"system:masters"}})
	if err != nil {
		t.Fatal(err)
	}
	config := c.Config()
	config.BearerToken, config.CertData, config.KeyData = "", pair.Cert, pair.Key
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL(name)+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
