package cluster_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

func TestSwitches(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.WithAudit(), cluster.WithNodes(),
		cluster.WithFeatureGate("InPlacePodVerticalScalingExclusiveCPUs", true),
		cluster.WithAPI("autoscaling/v1", false))
	c.Apply(t, "default", "{apiVersion: v1, kind: ConfigMap, metadata: {name: seen}}")
	events, err := c.Audit()
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for _, e := range events {
		seen = seen || e.Verb == "patch" && e.ObjectRef.Name == "seen" && e.User.Username == "admin"
	}
	if !seen {
		t.Errorf("the change is not among %d audited", len(events))
	}
	groups, err := c.Client().Discovery().ServerGroups()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			if v.GroupVersion == "autoscaling/v1" {
				t.Error("autoscaling/v1 is served")
			}
		}
	}
	log, err := c.Log(cluster.APIServer)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(log), "InPlacePodVerticalScalingExclusiveCPUs") {
		t.Error("the feature gate is not in the log")
	}
}
