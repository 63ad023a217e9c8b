package installation

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// gateFlags are both flags as a command line has them.
func gateFlags(t *testing.T, args ...string) GateFlags {
	t.Helper()
	var f GateFlags
	c := &cobra.Command{}
	f.Add(c, "the newest")
	if err := c.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFlags_SetGatesAndRelease(t *testing.T) {
	old, usual := kruise.Minor(5), cluster.DefaultGates()
	for _, c := range []struct {
		args  []string
		known kruise.Release
		want  Gates
	}{
		{nil, kruise.Release{}, Gates{Gates: usual}},
		{[]string{"--feature-gates=StatefulSetStartOrdinal=true,InPlaceUpdateEnvFromMetadata=false"}, kruise.Release{}, Gates{Gates: cluster.Gates{StatefulSetStartOrdinal: true}}},
		{[]string{"--feature-gates=KruisePodReadinessGate=true"}, kruise.Release{}, Gates{Gates: usual, ReadinessGate: true}},
		{nil, old, Gates{Gates: cluster.Gates{Release: old, InPlaceUpdateEnvFromMetadata: true}}},
		{[]string{"--kruise-version=1.3"}, old, Gates{Gates: cluster.Gates{Release: kruise.Minor(3)}}},
		{[]string{"--kruise-version=1.5", "--feature-gates=MaxUnavailableStatefulSet=true"}, kruise.Release{}, Gates{Gates: cluster.Gates{Release: old, InPlaceUpdateEnvFromMetadata: true, MaxUnavailableStatefulSet: true}}},
		{[]string{"--kruise-version=1.5", "--feature-gates=StatefulSetStartOrdinal=false"}, kruise.Release{}, Gates{Gates: cluster.Gates{Release: old, InPlaceUpdateEnvFromMetadata: true}}},
	} {
		f := gateFlags(t, c.args...)
		if err := f.Complete(); err != nil {
			t.Errorf("%q: %v", c.args, err)
		}
		if set, err := f.Of(c.known); err != nil || set != c.want {
			t.Errorf("%q: %+v, %v\nwant %+v", c.args, set, err, c.want)
		}
	}
}

func TestFlags_RefuseUnknownGatesAndReleases(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--feature-gates=StatefulSetStartOrdinal", "is not NAME=true"},
		{"--feature-gates=StatefulSetStartOrdinal=maybe", "is not NAME=true"},
		{"--feature-gates==true", "unknown gate"},
		{"--feature-gates=Nope=true", `unknown gate "Nope"`},
		{"--kruise-version=2.0", "is not a release of Kruise"},
		{"--kruise-version=1.5 --feature-gates=StatefulSetStartOrdinal=true", "Kruise 1.5 has no gate StatefulSetStartOrdinal"},
	} {
		f := gateFlags(t, strings.Fields(c.args)...)
		err := f.Complete()
		if bad, ok := errors.AsType[*command.UsageError](err); !ok || bad.Hint == "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.args, err)
		}
	}
}

// TestGateNames_AreThoseOfTheReleases: every name is a gate of the tables of releases, but the one of Kubernetes.
func TestGateNames_AreThoseOfTheReleases(t *testing.T) {
	for _, name := range gateNames() {
		if name != cluster.MaxUnavailableStatefulSet && !kruise.Next.HasGate(name) {
			t.Errorf("no release has a gate %s", name)
		}
		var s Gates
		if s.gate(name) == nil {
			t.Errorf("%s switches nothing", name)
		}
	}
}
