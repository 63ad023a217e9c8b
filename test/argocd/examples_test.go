package argocd

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v3/applicationset/utils"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// TestExamples_HaveKnownFields: Argo CD's own types know every field of the examples.
func TestExamples_HaveKnownFields(t *testing.T) {
	files, err := filepath.Glob("../../plugins/argocd/examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples (%v)", err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		for _, doc := range examples(t, file) {
			var meta metav1.TypeMeta
			if err := yaml.Unmarshal(doc, &meta); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			into := map[string]any{"Application": &v1alpha1.Application{}, "ApplicationSet": &v1alpha1.ApplicationSet{}, "AppProject": &v1alpha1.AppProject{}}[meta.Kind]
			if into == nil || meta.APIVersion != "argoproj.io/v1alpha1" {
				t.Errorf("%s: %s %s is not a kind of Argo CD's", file, meta.APIVersion, meta.Kind)
				continue
			}
			seen[meta.Kind] = true
			if err := yaml.UnmarshalStrict(doc, into); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	for _, kind := range []string{"Application", "ApplicationSet", "AppProject"} {
		if !seen[kind] {
			t.Errorf("no example of an %s", kind)
		}
	}
}

// TestApplicationSets_MakeThePromisedApplications: Argo CD makes of each set the application that its comment promises,
// from what its generators say of a folder or cluster.
func TestApplicationSets_MakeThePromisedApplications(t *testing.T) {
	folder := func(at string) map[string]any {
		return map[string]any{"path": map[string]any{"path": at, "basename": path.Base(at), "basenameNormalized": path.Base(at)}}
	}
	tests := []struct {
		file, name, cluster string
		params              map[string]any
		paths               []string
	}{
		{"applicationset-subsets.yaml", "shop-zone-a", "zone-a", folder("manifests/subsets/zone-a"), []string{"manifests/shared", "manifests/subsets/zone-a"}},
		{"applicationset-clusters.yaml", "web-east", "east", map[string]any{"name": "east", "nameNormalized": "east"}, []string{"apps/web"}},
	}
	for _, tc := range tests {
		t.Run(tc.file, func(t *testing.T) {
			var set v1alpha1.ApplicationSet
			decode(t, "examples/"+tc.file, &set)
			template := &v1alpha1.Application{Spec: set.Spec.Template.Spec}
			template.Name = set.Spec.Template.Name
			app, err := (&utils.Render{}).RenderTemplateParams(template, nil, tc.params, set.Spec.GoTemplate, set.Spec.GoTemplateOptions)
			if err != nil {
				t.Fatal(err)
			}
			var paths []string
			for _, s := range app.Spec.GetSources() {
				paths = append(paths, s.Path)
			}
			if app.Name != tc.name || app.Spec.Destination.Name != tc.cluster || !slices.Equal(paths, tc.paths) {
				t.Errorf("%s to %s: %v", app.Name, app.Spec.Destination.Name, paths)
			}
		})
	}
}

// TestApplicationSets_RingsAreSteps: Argo CD gives every cluster that the generator chooses the label
// of its ring, and each ring is one step, the canaries first.
func TestApplicationSets_RingsAreSteps(t *testing.T) {
	var set v1alpha1.ApplicationSet
	decode(t, "examples/applicationset-progressive.yaml", &set)
	if set.Spec.Strategy == nil || set.Spec.Strategy.Type != "RollingSync" {
		t.Fatalf("strategy is %+v", set.Spec.Strategy)
	}
	chosen, err := metav1.LabelSelectorAsSelector(&set.Spec.Generators[0].Clusters.Selector)
	if err != nil {
		t.Fatal(err)
	}
	for ring, want := range map[string][]int{"canary": {0}, "stable": {1}} {
		cluster := map[string]any{"shop": "true", "ring": ring}
		if !chosen.Matches(labels.Set{"shop": "true", "ring": ring}) {
			t.Errorf("the generator leaves out clusters of ring %s", ring)
		}
		template := &v1alpha1.Application{Spec: set.Spec.Template.Spec}
		template.Name, template.Labels = set.Spec.Template.Name, set.Spec.Template.Labels
		params := map[string]any{"name": "east", "nameNormalized": "east", "metadata": map[string]any{"labels": cluster}}
		app, err := (&utils.Render{}).RenderTemplateParams(template, nil, params, set.Spec.GoTemplate, set.Spec.GoTemplateOptions)
		if err != nil {
			t.Fatal(err)
		}
		var steps []int
		for i, step := range set.Spec.Strategy.RollingSync.Steps {
			for _, m := range step.MatchExpressions {
				if m.Operator == "In" && slices.Contains(m.Values, app.Labels[m.Key]) {
					steps = append(steps, i)
				}
			}
		}
		if app.Name != "web-east" || app.Spec.Destination.Name != "east" || !slices.Equal(steps, want) {
			t.Errorf("%s: %s to %s is in steps %v, want %v", ring, app.Name, app.Spec.Destination.Name, steps, want)
		}
	}
	if app := set.Spec.Template.Spec; app.SyncPolicy.Automated != nil {
		t.Error("automated sync has no effect with RollingSync")
	}
}

func examples(t *testing.T, file string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for _, doc := range bytes.Split(text, []byte("\n---\n")) {
		if strings.TrimSpace(string(doc)) != "" {
			out = append(out, doc)
		}
	}
	return out
}
