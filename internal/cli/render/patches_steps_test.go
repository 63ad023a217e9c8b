package render_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	rendercli "github.com/kubectl-kruise/kubectl-kruise/internal/cli/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// workload is a workload web of Kruise; more is added to its spec.
func workload(kind, image, more string) string {
	return `apiVersion: apps.kruise.io/v1beta1
kind: ` + kind + `
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: "` + image + `"}]}
` + more
}

// way is how both states are rendered.
type way struct {
	target render.Target
	driver stage.Driver
}

// The three drivers.
var (
	byKruise = way{target: render.Kruise, driver: stage.Native}
	byNative = way{driver: stage.Native}
	byClient = way{driver: stage.Client}
)

func parsed(t *testing.T, text string) []*resource.Resource {
	t.Helper()
	if text == "" {
		return nil
	}
	out, err := load.Parse("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func rendered(t *testing.T, how way, text, base, context string) []*resource.Resource {
	t.Helper()
	res, err := render.Render(t.Context(), parsed(t, text), render.Options{
		Target: how.target, Driver: how.driver, Base: parsed(t, base), Context: parsed(t, context),
	})
	if err != nil {
		t.Fatal(err)
	}
	return res.Resources
}

// change is one case: what was, what should be, and what is known.
type change struct {
	how               way
	old, new, context string
	steps             string
	// pair gives the old state to the renderer.
	pair bool
}

func (c change) states(t *testing.T) rendercli.PatchStates {
	t.Helper()
	given := installation.GatesOf(kruise.Release{})
	s := rendercli.PatchStates{
		Old: rendered(t, c.how, c.old, "", c.context), Context: parsed(t, c.context), Driver: c.how.driver, Gates: given,
	}
	base := ""
	if c.pair {
		base = c.old
	}
	s.New = rendered(t, c.how, c.new, base, c.context)
	if c.steps != "" {
		var err error
		if s.Steps, err = plan.ParseSteps(c.steps); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func made(t *testing.T, c change) patches.Set {
	t.Helper()
	set, err := rendercli.MakePatches(c.states(t))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func names(list []patches.Step) []string {
	var out []string
	for i := range list {
		out = append(out, list[i].Name)
	}
	return out
}

func said(list []patches.Target) []string {
	var out []string
	for _, t := range list {
		out = append(out, patches.Named(t))
	}
	return out
}

const five = "  replicas: 5\n"

// TestPatches_ObjectsAndSteps: which objects get a sequence, with which steps.
func TestPatches_ObjectsAndSteps(t *testing.T) {
	other := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop}\ndata: {a: b}\n"
	scaler := "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: shop}\nspec:\n" +
		"  scaleTargetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}\n"
	old, next := workload("CloneSet", "web:1", five), workload("CloneSet", "web:2", five)
	for name, c := range map[string]struct {
		change
		want, created, changed, deleted []string
	}{
		"nothing":            {change: change{how: byKruise, old: old, new: old}},
		"kruise":             {change: change{how: byKruise, old: old, new: next}, want: []string{"update", "step-50%", "step-100%"}},
		"steps":              {change: change{how: byKruise, old: old, new: next, steps: "2,100%"}, want: []string{"update", "step-100%"}},
		"native":             {change: change{how: byNative, old: old, new: next}, want: []string{"update"}},
		"native, stopping":   {change: change{how: byNative, old: old, new: next, steps: "2,100%"}, want: []string{"update", "update-stop", "step-100%"}},
		"client":             {change: change{how: byClient, old: old, new: next}, want: []string{"update", "step-1", "step-50%", "step-100%"}},
		"scaled":             {change: change{how: byNative, old: old, new: strings.Replace(old, "replicas: 5", "replicas: 3", 1)}, want: []string{"metadata", "update"}},
		"only metadata":      {change: change{how: byKruise, old: old, new: strings.Replace(old, "namespace: shop", "namespace: shop, labels: {a: b}", 1)}, want: []string{"metadata"}},
		"new and deleted":    {change: change{how: byKruise, old: old, new: strings.Replace(old, "name: web,", "name: new,", 1)}, created: []string{"CloneSet shop/new"}, deleted: []string{"CloneSet shop/web"}},
		"others":             {change: change{how: byKruise, old: old + other, new: old + strings.Replace(other, "a: b", "a: c", 1)}, changed: []string{"ConfigMap shop/c"}},
		"an autoscaler's":    {change: change{how: byKruise, old: old + scaler, new: next + scaler}, want: []string{"update", "step-50%", "step-100%"}},
		"daemons, uncounted": {change: change{how: byKruise, old: workload("DaemonSet", "web:1", ""), new: workload("DaemonSet", "web:2", "")}, want: []string{"update", "step-50%", "step-100%"}},
		"pair": {
			change: change{how: byNative, old: old, new: workload("CloneSet", "web:2", five+"  updateStrategy: {rollingUpdate: {partition: 4}}\n"), pair: true},
			want:   []string{"metadata", "update"}, created: []string{"Deployment shop/web-canary"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			set := made(t, c.change)
			var got []string
			for i := range set.Sequences {
				got = append(got, names(set.Sequences[i].Steps)...)
			}
			if diff := cmp.Diff([][]string{c.want, c.created, c.changed, c.deleted}, [][]string{got, said(set.Created), said(set.Changed), said(set.Deleted)}); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestPatches_WithoutAKnownNumberOfPods: where the number of pods is not known, no patch holds their
// number, and nothing asks for it.
func TestPatches_WithoutAKnownNumberOfPods(t *testing.T) {
	for name, c := range map[string]change{
		"no replicas":   {how: byKruise, old: workload("CloneSet", "web:1", ""), new: workload("CloneSet", "web:2", ""), steps: "5,50%,100%"},
		"daemons":       {how: byKruise, old: workload("DaemonSet", "web:1", ""), new: workload("DaemonSet", "web:2", "")},
		"stateful pods": {how: byKruise, old: workload("StatefulSet", "web:1", ""), new: workload("StatefulSet", "web:2", "")},
		"sidecars":      {how: byKruise, old: sidecars("log:1"), new: sidecars("log:2")},
	} {
		t.Run(name, func(t *testing.T) {
			set := made(t, c)
			if len(set.Sequences) != 1 || len(set.Sequences[0].Steps) == 0 {
				t.Fatalf("%+v", set)
			}
			files, err := patches.Files(set)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				for line := range strings.Lines(string(f.Body)) {
					if n := strings.TrimPrefix(strings.TrimSpace(line), "partition: "); n != strings.TrimSpace(line) && n != "0" && !strings.HasSuffix(n, "%") {
						t.Errorf("%s: %s", f.Name, line)
					}
					if strings.Contains(line, "100 pods") || strings.Contains(line, "of 100") {
						t.Errorf("%s tells of pods that were made up: %s", f.Name, line)
					}
				}
			}
		})
	}
}

func sidecars(image string) string {
	return `apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: log}
spec:
  selector: {matchLabels: {app: web}}
  updateStrategy: {type: RollingUpdate}
  containers: [{name: log, image: "` + image + `"}]
`
}

// TestPatches_RefuseWhatCannotBePatched checks that there is an error for each workload, with its
// place.
func TestPatches_RefuseWhatCannotBePatched(t *testing.T) {
	old := workload("CloneSet", "web:1", five)
	for name, c := range map[string]struct{ new, want string }{
		"selector":    {strings.ReplaceAll(old, "app: web", "app: other"), "the selector of CloneSet shop/web cannot change"},
		"not allowed": {workload("CloneSet", "web:1", five+"  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceOnly}}\n  minReadySeconds: 1\n"), ""},
		"in place only": {
			strings.Replace(workload("CloneSet", "web:1", five+"  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceOnly}}\n"), "name: app,", "name: app, command: [x],", 1),
			"the update policy forbids",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rendercli.MakePatches(change{how: byKruise, old: old, new: c.new}.states(t))
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "test:")):
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestPatches_CanaryComesFirst: the stable workload gives up pods only after the canary has them.
func TestPatches_CanaryComesFirst(t *testing.T) {
	set := made(t, change{
		how: byClient, pair: true, old: workload("CloneSet", "web:1", five),
		new: workload("CloneSet", "web:2", five+"  updateStrategy: {rollingUpdate: {partition: 4}}\n"),
	})
	first := set.Sequences[0].Steps[0].Before
	if !slices.ContainsFunc(first, func(c patches.Condition) bool {
		return strings.Contains(c.Text, "web-canary is applied") && c.Check != ""
	}) {
		t.Errorf("%+v", first)
	}
}

// TestPatches_AreReproducible: the same states give the same bytes.
func TestPatches_AreReproducible(t *testing.T) {
	c := change{how: byClient, old: workload("CloneSet", "web:1", five), new: workload("CloneSet", "web:2", five), context: pods(5)}
	write := func() []patches.File {
		files, err := patches.Files(made(t, c))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	if diff := cmp.Diff(write(), write()); diff != "" {
		t.Error(diff)
	}
}

// TestPatches_ArePinnedToTheUID: a step is pinned to the uid that the pods know their owner by, and to
// none that a model has made up.
func TestPatches_ArePinnedToTheUID(t *testing.T) {
	old, next := workload("CloneSet", "web:1", five), workload("CloneSet", "web:2", five)
	for name, c := range map[string]struct{ context, want string }{
		"of the pods": {pods(5), "the uid set"},
		"unknown":     {strings.ReplaceAll(pods(5), ", uid: set", ""), ""},
		"no pods":     {"", ""},
	} {
		set := made(t, change{how: byClient, old: old, new: next, context: c.context})
		got := ""
		for _, s := range set.Sequences[0].Steps {
			for _, b := range s.Before {
				if _, uid, ok := strings.Cut(b.Text, "it is the object with "); ok {
					got = uid
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: pinned to %q, want %q", name, got, c.want)
		}
	}
}
