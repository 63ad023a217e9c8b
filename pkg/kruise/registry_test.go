package kruise_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// TestKinds: each kind of the table has a type, and the definitions that lie
// beside the project have the same scope.
func TestKinds(t *testing.T) {
	all := map[string]kruise.Registered{}
	for _, k := range kruise.Kinds() {
		all[k.Kind] = k
		if !kruise.Serves(k.Group, k.Kind, k.Newest()) || k.Type.Name() != k.Kind {
			t.Errorf("%+v", k)
		}
	}
	if len(all) != len(objects) {
		t.Errorf("%d kinds, %d types", len(all), len(objects))
	}
	for _, c := range crds(t) {
		k := all[c.Spec.Names.Kind]
		if !slices.Equal(k.ShortNames, c.Spec.Names.ShortNames) || k.Resource() != c.Spec.Names.Plural || k.Group != c.Spec.Group {
			t.Errorf("%s: %+v, %+v", c.Spec.Names.Kind, k, c.Spec.Names)
		}
		if k.ClusterScoped != (c.Spec.Scope == "Cluster") || len(k.Versions) != len(c.Spec.Versions) {
			t.Errorf("%s: %+v, %s", c.Spec.Names.Kind, k, c.Spec.Scope)
		}
	}
}

// TestKinds_AreServedSince: each version has the release that brought it, by the table of
// releases.
func TestKinds_AreServedSince(t *testing.T) {
	seen := 0
	for _, k := range kruise.Kinds() {
		for _, s := range k.Served {
			seen++
			in, ok := kruise.ServedIn(k.Group, k.Kind, s.Version)
			since := "v" + in.First.String()
			if in.First == kruise.Next {
				since = kruise.Unreleased
			}
			if !ok || since != s.Since {
				t.Errorf("%s %s: since %q, want %q", k.Kind, s.Version, s.Since, since)
			}
		}
	}
	if rows := strings.Count(table(t, "kinds.tsv"), "\n") - 1; seen != rows {
		t.Errorf("%d versions, the table has %d", seen, rows)
	}
}

// TestLookup: a kind is found in its group only.
func TestLookup(t *testing.T) {
	for _, c := range []struct {
		group, kind string
		words       []string
	}{
		{kruise.Group, kruise.KindStatefulSet, []string{"statefulset", "statefulsets", "sts", "asts"}},
		{kruise.PolicyGroup, kruise.KindPodUnavailableBudget, []string{"podunavailablebudget", "podunavailablebudgets", "pub"}},
		{kruise.Group, kruise.KindPodUnavailableBudget, nil},
		{"apps", kruise.KindStatefulSet, nil},
	} {
		k, ok := kruise.Lookup(c.group, c.kind)
		if ok != (c.words != nil) || ok && !slices.Equal(k.Words(), c.words) {
			t.Errorf("%s %s: %v, %v", c.group, c.kind, ok, k)
		}
	}
}

// TestExpansion_NamesKinds: what takes an object's place is named where something does.
func TestExpansion_NamesKinds(t *testing.T) {
	for _, k := range kruise.Kinds() {
		if objects := k.Expansion == kruise.ExpansionObjects; objects && len(k.ExpandsTo) == 0 || !slices.IsSorted(k.ExpandsTo) {
			t.Errorf("%s: %d %v", k.Kind, k.Expansion, k.ExpandsTo)
		}
	}
}
