package demo_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/demo"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// crashing is a pod of the checkout that does not come up, after it was tried again.
func crashing(t *testing.T, c *demo.Cluster) *cluster.Pod {
	t.Helper()
	for range 300 {
		for _, p := range look(t, c, world.Want{Workload: of("checkout")}).Detail.Snapshot.Pods {
			if p.Containers[0].Restarts > 0 && !p.IsReady() {
				return p
			}
		}
		if err := c.Advance(time.Second); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("no pod of the checkout crashes")
	return nil
}

// TestObjects_AreReadAsYAMLAndText reads objects and pods as a cluster would return them.
func TestObjects_AreReadAsYAMLAndText(t *testing.T) {
	c := open(t)
	p := crashing(t, c)
	pod := cluster.Ref{Kind: "Pod", Namespace: "shop", Name: p.Name}
	for name, ask := range map[string]func() (string, error){
		"apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\n": func() (string, error) { return c.Manifest(t.Context(), of("checkout")) },
		"apiVersion: v1\nkind: Pod\n":                          func() (string, error) { return c.Manifest(t.Context(), pod) },
		"restartCount: ":                                       func() (string, error) { return c.Manifest(t.Context(), pod) },
		"Replicas:   8 desired":                                func() (string, error) { return c.Describe(t.Context(), of("checkout")) },
		"Controlled By:  CloneSet/checkout":                    func() (string, error) { return c.Describe(t.Context(), pod) },
		"InPlaceUpdate":                                        func() (string, error) { return c.Describe(t.Context(), pod) },
	} {
		if text, err := ask(); err != nil || !strings.Contains(text, name) {
			t.Errorf("no %q, %v:\n%s", name, err, text)
		}
	}
	none := cluster.Ref{Kind: "Pod", Namespace: "shop", Name: "none"}
	if _, err := c.Manifest(t.Context(), none); err == nil {
		t.Error("a pod that is not there has a manifest")
	}
	if _, err := c.Describe(t.Context(), none); err == nil {
		t.Error("a pod that is not there has a description")
	}
}

// TestLogs_HaveThePreviousOneAfterARestart reads the log before a restart of a crashing container;
// other containers have none.
func TestLogs_HaveThePreviousOneAfterARestart(t *testing.T) {
	c := open(t)
	p := crashing(t, c)
	q := world.LogQuery{Namespace: "shop", Pod: p.Name, Container: "app", Previous: true}
	log, err := c.Logs(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := log.Next()
	if err != nil || len(lines) == 0 || !strings.Contains(lines[0], "payments.currency") {
		t.Errorf("%v, %q", err, lines)
	}
	if _, err := log.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("the log from before has no end: %v", err)
	}
	well := look(t, c, world.Want{Workload: of("basket")}).Detail.Snapshot.Pods[0]
	for _, q := range []world.LogQuery{
		{Namespace: "shop", Pod: well.Name, Container: "app", Previous: true},
		{Namespace: "shop", Pod: p.Name, Container: "none"},
		{Namespace: "shop", Pod: "none", Container: "app"},
	} {
		if _, err := c.Logs(t.Context(), q); err == nil {
			t.Errorf("%+v has a log", q)
		}
	}
}
