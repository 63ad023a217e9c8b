package tui_test

import (
	"context"
	"errors"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/tuitest"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// spaces is a source with two namespaces.
type spaces struct{ *tuitest.Still }

func inSpace(name string) world.World {
	ref := cluster.Ref{Group: "apps", Kind: "Deployment", Namespace: name, Name: "in-" + name}
	return world.World{
		Loaded: true, Where: world.Where{Context: "test", Namespace: name}, Namespaces: []string{"one", "two"}, Workloads: []*world.Workload{{Ref: ref}},
	}
}

func (s spaces) Move(_ context.Context, namespace string) error {
	if namespace == "secret" {
		return errors.New("it may not be read")
	}
	s.Show(inSpace(namespace))
	return nil
}

// TestMove_ReplacesAllScreens: another namespace takes the place of the first with all its screens; one
// that cannot be read leaves everything as it is.
func TestMove_ReplacesAllScreens(t *testing.T) {
	s := tuitest.Start(t, tui.Options{Source: spaces{tuitest.NewStill(inSpace("one"))}}, tuitest.Size{Width: 80, Height: 24})
	s.Until("in-one")
	s.Press("enter").Until("deployment/in-one")
	s.Type(":ns secret").Press("enter").Until("it may not be read", "deployment/in-one")
	s.Type(":ns t").Press("tab").Until(":ns two")
	s.Press("enter").Until("in-two", "namespace two")
	s.Gone("in-one")
	s.Type(":ns").Press("enter").Until("all namespaces")
}
