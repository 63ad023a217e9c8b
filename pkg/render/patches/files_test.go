package patches_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
)

var web = patches.Target{APIVersion: "apps.kruise.io/v1beta1", Kind: "CloneSet", Namespace: "shop", Name: "web"}

func merge(body map[string]any) *patches.Patch {
	return &patches.Patch{Target: web, Type: "merge", Body: body}
}

func files(t *testing.T, s patches.Set) map[string]string {
	t.Helper()
	list, err := patches.Files(s)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range list {
		if out[f.Name] != "" {
			t.Errorf("%s is there twice", f.Name)
		}
		out[f.Name] = string(f.Body)
	}
	return out
}

// TestFiles: a patch is YAML that holds nothing else, and every other step a text.
func TestFiles(t *testing.T) {
	partition := map[string]any{"spec": map[string]any{"updateStrategy": map[string]any{"partition": "50%"}}}
	got := files(t, patches.Set{Sequences: []patches.Sequence{{
		Directory: "web", Object: web, Driver: "kruise",
		Steps: []patches.Step{
			{Name: "50%", Title: "half\nof them: # and `more`", Patch: merge(partition), Before: []patches.Condition{{Text: "a", Check: "true\nrm -rf /"}}},
			{Name: "wait", Title: "wait", Commands: []string{"sleep 1"}, Notes: []string{"n"}},
			{Name: "ops", Title: "ops", Patch: &patches.Patch{Target: web, Type: "json", Body: []any{map[string]any{"op": "remove", "path": "/spec/paused"}}}},
			{Name: "pod", Title: "pod", Patch: &patches.Patch{
				Target: patches.Target{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web-0"}, Type: "strategic", Subresource: "resize", Body: map[string]any{"spec": map[string]any{}},
			}},
		},
	}}})
	var body map[string]any
	if err := yaml.Unmarshal([]byte(got["web/01-50pct.yaml"]), &body); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": web.APIVersion, "kind": web.Kind, "metadata": map[string]any{"name": "web", "namespace": "shop"}, "spec": partition["spec"],
	}
	if diff := cmp.Diff(want, body); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for name, part := range map[string]string{
		"web/02-wait.txt": "  sleep 1\n", "web/03-ops.yaml": "target: {group: apps.kruise.io, version: v1beta1, kind: CloneSet, name: web}",
		"web/04-pod.yaml": "kubectl patch pod/web-0 -n shop --subresource resize --type strategic --patch-file web/04-pod.yaml\n",
		"README.md":       "### 1. half of them: # and 'more'\n",
	} {
		if !strings.Contains(got[name], part) {
			t.Errorf("%s has no %q:\n%s", name, part, got[name])
		}
	}
	for name, text := range got {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "rm") || strings.HasSuffix(name, "04-pod.yaml") && strings.Contains(line, "kustomize") {
				t.Errorf("%s: %q", name, line)
			}
		}
	}
}

// TestIndex: what programs read names every file.
func TestIndex(t *testing.T) {
	got := files(t, patches.Set{
		Sequences: []patches.Sequence{{Directory: "d", Object: web, For: &web, Steps: []patches.Step{{Name: "a<b", Title: "t", Patch: merge(map[string]any{})}}}},
		Created:   []patches.Target{web}, Deleted: []patches.Target{{APIVersion: "v1", Kind: "ConfigMap", Name: "c"}},
	})
	var index struct {
		Sequences []struct{ Steps []struct{ File, Type string } }
		Created   []struct{ Name string }
		Deleted   []struct{ Kind string }
	}
	if err := json.Unmarshal([]byte(got["index.json"]), &index); err != nil {
		t.Fatal(err)
	}
	step := index.Sequences[0].Steps[0]
	if got[step.File] == "" || step.Type != "merge" || index.Created[0].Name != "web" || index.Deleted[0].Kind != "ConfigMap" {
		t.Errorf("%+v in %v", index, got["index.json"])
	}
	if empty := files(t, patches.Set{}); !strings.Contains(empty["README.md"], "No workload changes") || !strings.Contains(empty["index.json"], `"sequences": []`) {
		t.Errorf("%v", empty)
	}
}

// TestCommands: odd names stay one word of the shell.
func TestCommands(t *testing.T) {
	odd := patches.Target{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "a b", Name: "x';rm -rf $HOME"}
	p := patches.Patch{Target: odd, Type: "merge"}
	want := `kubectl patch 'deployment.v1.apps/x'\'';rm -rf $HOME' -n 'a b' --type merge --patch-file 'my file'`
	if got := p.Command("my file"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := patches.Named(odd); got != "Deployment a b/x';rm -rf $HOME" {
		t.Error(got)
	}
}
