package controller

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func templateOf(image string) map[string]any {
	return map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": image}}}}
}

func viewOf(image string, revisions ...cluster.Revision) *View {
	return &View{Workload: &cluster.Workload{Ref: cluster.Ref{Group: kruise.Group, Kind: "CloneSet", Name: "web"}, Template: templateOf(image)}, Revisions: revisions}
}

func actionsText(p Pass) string {
	var out []string
	for _, a := range p.Actions {
		switch a := a.(type) {
		case StoreRevision:
			out = append(out, fmt.Sprintf("store %s=%d", a.Revision.Name, a.Revision.Number))
		case DropRevision:
			out = append(out, "drop "+a.Name)
		default:
			out = append(out, fmt.Sprintf("%T", a))
		}
	}
	return strings.Join(out, ", ")
}

func TestSyncRevision(t *testing.T) {
	stored := func(name string, number int64, image string) cluster.Revision {
		return cluster.Revision{Name: name, Number: number, Template: templateOf(image)}
	}
	fresh := viewOf("web:1")
	name := revisionName(fresh.Workload, nil, 0)
	for _, c := range []struct {
		name       string
		view       *View
		did, found string
		last       int64
	}{
		{"the first", fresh, "store " + name + "=1", name, 1},
		{"the newest", viewOf("web:2", stored("web-b", 2, "web:2"), stored("web-a", 1, "web:1")), "", "web-b", 2},
		{"an older one", viewOf("web:1", stored("web-b", 2, "web:2"), stored("web-a", 1, "web:1")), "store web-a=3", "web-a", 3},
		{"a new one", viewOf("web:1", stored("web-b", 7, "web:2")), "store " + name + "=8", name, 8},
	} {
		var pass Pass
		update, all := c.view.syncRevision(&pass, 0, "")
		if got := actionsText(pass); got != c.did || update.Name != c.found {
			t.Errorf("%s: did %q with %s, want %q with %s", c.name, got, update.Name, c.did, c.found)
		}
		if last := all[len(all)-1]; last.Name != c.found || last.Number != c.last {
			t.Errorf("%s: the newest is %s=%d", c.name, last.Name, last.Number)
		}
		if len(all) != max(len(c.view.Revisions), int(min(c.last, 2))) && c.last < 7 {
			t.Errorf("%s: %d revisions", c.name, len(all))
		}
	}
}

func TestRevisionName_Collides(t *testing.T) {
	w := viewOf("web:1").Workload
	if revisionName(w, nil, 0) == revisionName(w, nil, 1) {
		t.Error("a collision is not told apart")
	}
	daemons := *w
	daemons.Kind = "DaemonSet"
	if a, b := revisionName(&daemons, nil, 0), revisionName(w, nil, 0); a == b {
		t.Errorf("daemon sets hash something else, but both are %s", a)
	}
	daemons.Template = map[string]any{"spec": "odd"}
	if revisionName(&daemons, nil, 0) == "" {
		t.Error("an odd template has no name")
	}
}

func TestDropRevisions(t *testing.T) {
	var all []cluster.Revision
	for i := range 6 {
		all = append(all, cluster.Revision{Name: fmt.Sprintf("web-%d", i), Number: int64(i + 1)})
	}
	carries := func(hash string) *cluster.Pod {
		return &cluster.Pod{Labels: map[string]string{"controller-revision-hash": hash}}
	}
	for _, c := range []struct {
		name, kind string
		limit      *int32
		pods       []*cluster.Pod
		want       string
	}{
		{"default limit", "CloneSet", nil, nil, ""},
		{"four others, limit 4", "CloneSet", new(int32(4)), nil, ""},
		{"four others, limit 2", "CloneSet", new(int32(2)), nil, "drop web-0, drop web-1"},
		{"pods keep theirs, by full name or hash", "CloneSet", new(int32(1)), []*cluster.Pod{carries("web-0"), carries("2")}, "drop web-1"},
		{"none kept", "CloneSet", new(int32(0)), nil, "drop web-0, drop web-1, drop web-2, drop web-4"},
		{"pods of a daemon set keep theirs, which count", "DaemonSet", new(int32(2)), []*cluster.Pod{carries("web-0"), carries("2")}, "drop web-1, drop web-4"},
		{"more are kept than the limit", "DaemonSet", new(int32(1)), []*cluster.Pod{carries("0"), carries("1"), carries("2")}, "drop web-4"},
	} {
		var pass Pass
		(&View{Workload: &cluster.Workload{Ref: cluster.Ref{Kind: c.kind}}, Pods: c.pods}).dropRevisions(&pass, all, c.limit, "web-3", "web-5")
		if got := actionsText(pass); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestNativeRevisionName holds the name against that of a StatefulSet on Kubernetes 1.37, and
// keeps that of an older server, which is recognized by its stored revisions.
func TestNativeRevisionName(t *testing.T) {
	w, err := cluster.ReadWorkload(tree.FromValue(map[string]any{
		"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": map[string]any{"name": "web"},
		"spec": map[string]any{
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "web"}},
				"spec": map[string]any{
					"terminationGracePeriodSeconds": 0,
					"containers":                    []any{map[string]any{"name": "app", "image": "registry.example.com/web:1", "imagePullPolicy": "Always"}},
				},
			},
		},
	}))
	if err != nil {
		t.Fatal(err)
	}
	older := []cluster.Revision{{Template: map[string]any{"metadata": map[string]any{"creationTimestamp": nil}}}}
	now, then := revisionName(w, nil, 0), revisionName(w, older, 0)
	if now != "web-79448869d5" || then == now {
		t.Errorf("%s, and %s where older ones have a null", now, then)
	}
}

// TestRevisionName_IsAsRecorded holds the names against those of a cluster: of the
// stored templates, and of the templates of the workloads as we read them.
func TestRevisionName_IsAsRecorded(t *testing.T) {
	stored, read := 0, 0
	for _, c := range conformance.List(t, "rollout") {
		steps, err := conformance.RolloutSteps(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			if s.Kind == "SidecarSet" {
				continue
			}
			for _, r := range s.After.Revisions {
				w := cluster.Workload{Ref: cluster.Ref{Group: kruise.Group, Kind: s.Kind, Name: "web"}, Template: r.Template}
				if got := revisionName(&w, nil, 0); got != r.Name {
					t.Errorf("%s step %d: revision %s is named %s", s.Case, s.Number, r.Name, got)
				}
				stored++
			}
			if name, want := readRevisionName(t, s); name != want {
				t.Errorf("%s step %d: the workload's template is named %s, recorded %s", s.Case, s.Number, name, want)
			}
			read++
		}
	}
	if stored < 300 || read < 150 {
		t.Errorf("%d stored templates and %d workloads were compared", stored, read)
	}
}

func readRevisionName(t *testing.T, s conformance.RolloutStep) (got, want string) {
	t.Helper()
	w, err := cluster.ReadWorkload(tree.FromValue(s.After.Workload))
	if err != nil {
		t.Fatal(err)
	}
	status, _ := s.After.Workload["status"].(map[string]any)
	want, _ = status["updateRevision"].(string)
	if w.Kind == "DaemonSet" {
		want = w.Name + "-" + want
	}
	return revisionName(w, nil, 0), want
}

func TestRevisionData_IsWhatReadRevisionReads(t *testing.T) {
	const want = `{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null,"labels":{"app":"web"}},"spec":{"containers":[]}}}}`
	template := map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}, "spec": map[string]any{"containers": []any{}}}
	if got := string(RevisionData(template)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
