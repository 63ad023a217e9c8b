package inject

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func setOf(tb testing.TB, name, spec string, revisions ...*Revision) *Set {
	tb.Helper()
	s, err := Compile(tree.Map("metadata", tree.Map("name", name), "spec", parse(tb, spec)), revisions)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func meeting(tb testing.TB, labels string) *Target {
	tb.Helper()
	return &Target{
		Labels: tree.Strings(parse(tb, labels)), Key: "Deployment ns/web",
		NamespaceLabels: map[string]string{kruise.NamespaceNameLabel: "ns", "zone": "a"}, NamespaceKnown: true,
	}
}

func TestOutcome(t *testing.T) {
	for _, tt := range []struct {
		name, spec string
		unknown    bool
		want       Outcome
		why        string
	}{
		{name: "labels", spec: `{selector: {matchLabels: {app: web}}}`, want: Injected, why: "selector app=web matches, in every namespace"},
		{name: "other labels", spec: `{selector: {matchLabels: {app: db}}}`, want: OtherPods, why: "app=db does not match"},
		{name: "no selector", spec: `{}`, want: OtherPods, why: "empty"},
		{name: "empty selector", spec: `{selector: {}}`, want: OtherPods, why: "empty"},
		{name: "paused", spec: `{selector: {matchLabels: {app: web}}, injectionStrategy: {paused: true}}`, want: Paused, why: "paused"},
		{name: "namespace by name", spec: `{selector: {matchLabels: {app: web}}, namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ns}}}`, want: Injected, unknown: true},
		{name: "other namespace", spec: `{selector: {matchLabels: {app: web}}, namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: x}}}`, want: OtherNamespace, unknown: true, why: "does not match the namespace"},
		{name: "other namespace, and labels", spec: `{selector: {matchLabels: {app: web}}, namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: x, zone: a}}}`, want: OtherNamespace, unknown: true},
		{name: "namespace labels", spec: `{selector: {matchLabels: {app: web}}, namespaceSelector: {matchLabels: {zone: a}}}`, want: Injected},
		{name: "unknown namespace labels", spec: `{selector: {matchLabels: {app: web}}, namespaceSelector: {matchLabels: {zone: a}}}`, unknown: true, want: UnknownNamespace, why: "not known"},
		{name: "unknown, but other pods anyway", spec: `{selector: {matchLabels: {app: db}}, namespaceSelector: {matchLabels: {zone: a}}}`, unknown: true, want: OtherPods},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at := meeting(t, "{app: web}")
			if tt.unknown {
				at.NamespaceKnown, at.NamespaceLabels = false, map[string]string{kruise.NamespaceNameLabel: "ns"}
			}
			got, err := Choose([]*Set{setOf(t, "set", tt.spec)}, at)
			if err != nil {
				t.Fatal(err)
			}
			if got[0].Outcome != tt.want {
				t.Errorf("outcome %d (%s), want %d", got[0].Outcome, got[0].Why(), tt.want)
			}
			if !strings.Contains(got[0].Why(), tt.why) {
				t.Errorf("why %q, want %q", got[0].Why(), tt.why)
			}
			if (got[0].Content != nil) != (tt.want == Injected) {
				t.Errorf("content %v for outcome %d", got[0].Content, tt.want)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	sets := []*Set{
		setOf(t, "b-wide", `{}`),
		setOf(t, "z-pinned", `{namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [ns]}]}}`),
		setOf(t, "a-wide", `{namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [x]}]}}`),
		setOf(t, "m-pinned", `{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ns}}}`),
	}
	Order(sets)
	var got []string
	for _, s := range sets {
		got = append(got, s.Name)
	}
	if diff := cmp.Diff([]string{"m-pinned", "z-pinned", "a-wide", "b-wide"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func storedRevision(tb testing.TB, set, name, version string, number int) *Revision {
	tb.Helper()
	r := ReadRevision(parse(tb, fmt.Sprintf(`{metadata: {name: %s, labels: {kruise.io/sidecarset-name: %s, apps.kruise.io/sidecarset-custom-version: %q}},
		revision: %d, data: {spec: {$patch: replace, containers: [{name: side}]}}}`, name, set, version, number)))
	if r == nil {
		tb.Fatal("no revision")
	}
	return r
}

// TestRevision is the choice of a stored revision (docs/kruise/sidecarset.md#which-pods-match).
func TestRevision(t *testing.T) {
	stored := []*Revision{
		storedRevision(t, "set", "set-1", "one", 1), storedRevision(t, "set", "set-2", "one", 2),
		storedRevision(t, "set", "set-3", "two", 3), storedRevision(t, "other", "other-9", "one", 9),
	}
	for _, tt := range []struct{ name, revision, update, want, fails string }{
		{name: "none", revision: `{}`, want: ""},
		{name: "by name", revision: `{revisionName: set-1}`, want: "set-1"},
		{name: "newest of a custom version", revision: `{customVersion: one}`, want: "set-2"},
		{name: "name wins", revision: `{revisionName: set-1, customVersion: two}`, want: "set-1"},
		{name: "not stored", revision: `{customVersion: three}`, fails: "customVersion three"},
		{name: "name not stored", revision: `{revisionName: set-7}`, fails: "set-7"},
		{name: "Partial, integer partition", revision: `{customVersion: one, policy: Partial}`, update: `{partition: 3}`, want: ""},
		{name: "Partial, no partition", revision: `{customVersion: one, policy: Partial}`, want: ""},
		{name: "Partial 100%", revision: `{customVersion: one, policy: Partial}`, update: `{partition: 100%}`, want: "set-2"},
		{name: "Partial 0%", revision: `{customVersion: one, policy: Partial}`, update: `{partition: 0%}`, want: ""},
		{name: "Partial, no percentage", revision: `{customVersion: one, policy: Partial}`, update: `{partition: "x"}`, fails: "percentage"},
		{name: "Partial, updates paused", revision: `{customVersion: one, policy: Partial}`, update: `{paused: true, partition: 0%}`, want: "set-2"},
		{name: "Partial, selector does not match", revision: `{customVersion: one, policy: Partial}`, update: `{selector: {matchLabels: {ring: x}}}`, want: "set-2"},
		{name: "Partial, selector matches", revision: `{customVersion: one, policy: Partial}`, update: `{selector: {matchLabels: {app: web}}}`, want: ""},
		{name: "Always ignores the selector", revision: `{customVersion: one}`, update: `{selector: {matchLabels: {app: web}}}`, want: "set-2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			update := tt.update
			if update == "" {
				update = "{}"
			}
			spec := fmt.Sprintf(`{selector: {matchLabels: {app: web}}, updateStrategy: %s, injectionStrategy: {revision: %s}}`, update, tt.revision)
			got, err := Choose([]*Set{setOf(t, "set", spec, stored...)}, meeting(t, "{app: web}"))
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Errorf("error %v, want %q", err, tt.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got[0].Content.Revision != tt.want {
				t.Errorf("revision %q, want %q", got[0].Content.Revision, tt.want)
			}
		})
	}
}

// TestDice: the choice is the same every time, and the share of templates with the old revision is
// about the percentage.
func TestDice(t *testing.T) {
	s := setOf(t, "set", `{selector: {matchLabels: {app: web}}, updateStrategy: {partition: 30%}, injectionStrategy: {revision: {revisionName: set-1, policy: Partial}}}`,
		storedRevision(t, "set", "set-1", "", 1))
	old := 0
	for i := range 1000 {
		at := meeting(t, "{app: web}")
		at.Key = fmt.Sprintf("Deployment ns/web-%d", i)
		first, err := Choose([]*Set{s}, at)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := Choose([]*Set{s}, at)
		if first[0].Content != again[0].Content {
			t.Fatalf("%s draws differently the second time", at.Key)
		}
		if !first[0].Diced {
			t.Fatal("the choice is not marked as chance")
		}
		if first[0].Content.Revision == "set-1" {
			old++
		}
	}
	if old < 250 || old > 350 {
		t.Errorf("%d of 1000 drew the old revision, want about 300", old)
	}
}
