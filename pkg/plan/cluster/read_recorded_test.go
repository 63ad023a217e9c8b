package cluster_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// TestPatchedWorkloadIsAsStored: a workload that a recorded step patches, read by
// us, has the very template that the real cluster stored, defaults included.
func TestPatchedWorkloadIsAsStored(t *testing.T) {
	compared := 0
	for _, c := range conformance.List(t, "rollout") {
		steps, err := conformance.RolloutSteps(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			if !s.Patched() {
				continue
			}
			got, stored := read(t, patched(t, s)), read(t, s.After.Workload)
			compared++
			if want := storedTemplate(s); !rules.SameTemplate(want, template(got.Template)) {
				t.Errorf("%s step %d: -stored +ours:\n%s", s.Case, s.Number, gocmp.Diff(want, template(got.Template)))
			}
			if !rules.SameTemplate(template(stored.Template), template(got.Template)) {
				t.Errorf("%s step %d: reading the stored object changes it:\n%s", s.Case, s.Number, gocmp.Diff(stored.Template, got.Template))
			}
		}
	}
	t.Logf("%d patched workloads read as stored", compared)
	if compared < 150 {
		t.Errorf("only %d steps were compared", compared)
	}
}

// patched is the workload of a step with the step's merge patch.
func patched(t *testing.T, s conformance.RolloutStep) map[string]any {
	t.Helper()
	doc, err := json.Marshal(s.Before.Workload)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := json.Marshal(s.Trace.Step["patch"])
	if err != nil {
		t.Fatal(err)
	}
	doc, err = jsonpatch.MergePatch(doc, patch)
	if err != nil {
		t.Fatal(s.Case, s.Number, err)
	}
	var out map[string]any
	if err := json.Unmarshal(doc, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, object map[string]any) *cluster.Workload {
	t.Helper()
	w, err := cluster.ReadWorkload(tree.FromValue(object))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// storedTemplate is what the cluster made its revision of. It stores the template
// of a DaemonSet without defaults; its newest revision has what the controller
// reads into it.
func storedTemplate(s conformance.RolloutStep) map[string]any {
	switch s.Kind {
	case "SidecarSet":
		return template(at(s.After.Workload, "spec"))
	case "DaemonSet":
		return slices.MaxFunc(s.After.Revisions, func(a, b conformance.RolloutRevision) int { return cmp.Compare(a.Revision, b.Revision) }).Template
	}
	return at(s.After.Workload, "spec", "template")
}

// template wraps what a SidecarSet gives to pods, so that it compares like a
// template.
func template(v map[string]any) map[string]any {
	if _, ok := v["spec"]; ok {
		return v
	}
	return map[string]any{"spec": map[string]any{"containers": v["containers"], "initContainers": v["initContainers"], "volumes": v["volumes"]}}
}

func at(v map[string]any, path ...string) map[string]any {
	for _, step := range path {
		v, _ = v[step].(map[string]any)
	}
	return v
}
