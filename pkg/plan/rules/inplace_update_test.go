package rules

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// twoContainers is a template in which main reads the annotation level and the
// label tier.
func twoContainers(edit func(meta, main, side map[string]any)) map[string]any {
	read := func(field string) map[string]any {
		return map[string]any{"name": "V", "valueFrom": map[string]any{"fieldRef": map[string]any{"fieldPath": field}}}
	}
	meta := map[string]any{
		"labels":      map[string]any{"app": "web", "tier": "a"},
		"annotations": map[string]any{"level": "info", "note": "x"},
	}
	main := map[string]any{
		"name": "main", "image": "web:1", "env": []any{read("metadata.annotations['level']"), read("metadata.labels['tier']")},
		"resources": map[string]any{"requests": map[string]any{"cpu": "1"}},
	}
	side := map[string]any{"name": "side", "image": "log:1", "env": []any{read("metadata.labels['tier']")}}
	edit(meta, main, side)
	return map[string]any{"metadata": meta, "spec": map[string]any{"containers": []any{main, side}}}
}

func TestInPlaceSpec(t *testing.T) {
	on := cluster.Gates{InPlaceUpdateEnvFromMetadata: true, InPlaceWorkloadVerticalScaling: true}
	set := func(v string) map[string]*string { return map[string]*string{v: new(v)} }
	resources := func(policy string) func(meta, main, side map[string]any) {
		return func(_, main, _ map[string]any) {
			main["resources"] = map[string]any{"requests": map[string]any{"cpu": "2"}}
			if policy != "" {
				main["resizePolicy"] = []any{map[string]any{"resourceName": "cpu", "restartPolicy": policy}}
			}
		}
	}
	for _, c := range []struct {
		name string
		edit func(meta, main, side map[string]any)
		gate bool
		want InPlaceSpec
	}{
		{
			"images", func(_, main, side map[string]any) { main["image"], side["image"] = "web:2", "log:2" }, true,
			InPlaceSpec{Images: map[string]string{"main": "web:2", "side": "log:2"}, NotReady: true},
		},
		{
			"an annotation nobody reads", func(meta, _, _ map[string]any) { meta["annotations"].(map[string]any)["note"] = "note" }, true,
			InPlaceSpec{Metadata: Metadata{Annotations: set("note")}, NotReady: true},
		},
		{
			"an annotation that main reads", func(meta, _, _ map[string]any) { meta["annotations"].(map[string]any)["level"] = "level" }, true,
			InPlaceSpec{Refs: map[string]Metadata{"main": {Annotations: set("level")}}, NotReady: true},
		},
		{
			"a label that both read", func(meta, _, _ map[string]any) { meta["labels"].(map[string]any)["tier"] = "tier" }, true,
			InPlaceSpec{Refs: map[string]Metadata{"main": {Labels: set("tier")}, "side": {Labels: set("tier")}}, NotReady: true},
		},
		{
			"without the gate nobody reads", func(meta, _, _ map[string]any) { meta["labels"].(map[string]any)["tier"] = "tier" }, false,
			InPlaceSpec{Metadata: Metadata{Labels: set("tier")}, NotReady: true},
		},
		{
			"a key that goes away restarts nothing", func(meta, _, _ map[string]any) { delete(meta["annotations"].(map[string]any), "level") }, true,
			InPlaceSpec{Metadata: Metadata{Annotations: map[string]*string{"level": nil}}, Rereads: []string{"main"}, NotReady: true},
		},
		{
			"resources alone leave the pod in service", resources(""), true,
			InPlaceSpec{Resources: map[string]any{"main": map[string]any{"requests": map[string]any{"cpu": "2"}}}},
		},
		{
			"resources and an image", func(meta, main, side map[string]any) { resources("")(meta, main, side); side["image"] = "log:2" }, true,
			InPlaceSpec{Images: map[string]string{"side": "log:2"}, Resources: map[string]any{"main": map[string]any{"requests": map[string]any{"cpu": "2"}}}, NotReady: true},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			gates := on
			gates.InPlaceUpdateEnvFromMetadata = c.gate
			got := TemplateChange{
				Old: cluster.Revision{Template: twoContainers(func(_, _, _ map[string]any) {})},
				New: cluster.Revision{Template: twoContainers(c.edit)}, Gates: gates,
			}.InPlaceSpec()
			for _, m := range []*map[string]any{&got.Resources} {
				if len(*m) == 0 {
					*m = nil
				}
			}
			if len(got.Images) == 0 {
				got.Images = nil
			}
			if len(got.Refs) == 0 {
				got.Refs = nil
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestInPlaceSpec_RestartsForResources: a resize that restarts the container takes
// the pod out of service.
func TestInPlaceSpec_RestartsForResources(t *testing.T) {
	policy := func(cpu string) map[string]any {
		return twoContainers(func(_, main, _ map[string]any) {
			main["resources"] = map[string]any{"requests": map[string]any{"cpu": cpu}}
			main["resizePolicy"] = []any{map[string]any{"resourceName": "cpu", "restartPolicy": "RestartContainer"}}
		})
	}
	s := TemplateChange{Old: cluster.Revision{Template: policy("1")}, New: cluster.Revision{Template: policy("2")}}.InPlaceSpec()
	if !s.NotReady || len(s.Resources) != 1 {
		t.Errorf("%+v", s)
	}
}

func TestAffected(t *testing.T) {
	s := InPlaceSpec{
		Images: map[string]string{"side": "log:2"}, Refs: map[string]Metadata{"main": {Labels: map[string]*string{"b": nil}, Annotations: map[string]*string{"a": nil}}},
		Resources: map[string]any{"third": nil},
	}
	got := s.Affected([]string{"main", "idle", "side", "third"}, func(name string) *int {
		if name == "side" {
			return new(-1)
		}
		return nil
	})
	want := []Affected{{Name: "main", Keys: []string{"annotations/a", "labels/b"}}, {Name: "side", Priority: new(-1)}, {Name: "third"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNextDue(t *testing.T) {
	waiting := `"nextContainerImages":{"side":"log:2"},"preCheckBeforeNext":{"containersRequiredReady":["main"]}}`
	for _, c := range []struct {
		name, record string
		edit         func(*cluster.Container)
		want         bool
	}{
		{"nothing waits", `{}`, func(*cluster.Container) {}, false},
		{"ready", `{` + waiting, func(*cluster.Container) {}, true},
		{"not ready", `{` + waiting, func(c *cluster.Container) { c.Ready = false }, false},
		{"the batch is not complete", `{"lastContainerStatuses":{"main":{"imageID":"sha256:1"}},` + waiting, func(c *cluster.Container) { c.Image, c.ImageID = "web:2", "sha256:1" }, false},
		{"the batch is complete", `{"lastContainerStatuses":{"main":{"imageID":"sha256:0"}},` + waiting, func(c *cluster.Container) { c.ImageID = "sha256:1" }, true},
		{"nothing to check", `{"nextContainerResources":{"side":{}}}`, func(c *cluster.Container) { c.Ready = false }, true},
		{"the container is gone", `{` + waiting, func(c *cluster.Container) { c.Name = "other" }, false},
	} {
		p := pod("p1", "n")
		p.Containers[0].Ready = true
		c.edit(&p.Containers[0])
		p.Annotations = map[string]string{kruise.InPlaceUpdateStateAnnotation: c.record}
		r, ok := InPlaceRecordOf(p)
		if got := r.NextDue(p, NodeReport{EnvHashes: true, Resources: true}); !ok || got != c.want {
			t.Errorf("%s: %v, %v", c.name, ok, got)
		}
	}
}

// TestBegin: the image that ran first is kept over all batches; containers without
// a status are not waited for.
func TestBegin(t *testing.T) {
	p := pod("p1", "n")
	p.Containers = []cluster.Container{{Name: "main", ImageID: "sha256:1", Reported: true}, {Name: "side", ImageID: "sha256:2", Reported: true}, {Name: "late"}}
	at := time.Date(2026, 7, 1, 12, 0, 0, 5e8, time.UTC)
	var r InPlaceRecord
	r.Begin(p, []string{"main"}, map[string]string{"main": "web:2"}, at)
	p.Containers[0].ImageID = "sha256:9"
	r.Begin(p, []string{"late", "main", "side"}, map[string]string{"main": "web:3", "side": "log:2", "late": "x:2"}, at)
	want := InPlaceRecord{
		LastContainerStatuses: map[string]recordedStatus{"main": {"sha256:1"}, "side": {"sha256:2"}},
		ContainerBatchesRecord: []InPlaceBatchRecord{
			{Timestamp: at.Truncate(time.Second), Containers: []string{"main"}},
			{Timestamp: at.Truncate(time.Second), Containers: []string{"late", "main", "side"}},
		},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestGraceEnds counts from whole seconds.
func TestGraceEnds(t *testing.T) {
	p := pod("p1", "n")
	if _, ok := GraceEnds(p); ok {
		t.Error("nothing is announced")
	}
	p.Annotations = map[string]string{
		kruise.InPlaceUpdateStateAnnotation: `{"updateTimestamp":"2026-07-01T12:00:10Z"}`,
		kruise.InPlaceUpdateGraceAnnotation: `{"graceSeconds":6}`,
	}
	if due, ok := GraceEnds(p); !ok || !due.Equal(time.Date(2026, 7, 1, 12, 0, 16, 0, time.UTC)) {
		t.Errorf("due at %v, %v", due, ok)
	}
	p.Annotations[kruise.InPlaceUpdateGraceAnnotation] = "{"
	if _, ok := GraceEnds(p); ok {
		t.Error("what cannot be read is never due")
	}
}

func TestInPlaceBatches(t *testing.T) {
	at := func(name string, priority int, keys ...string) Affected {
		return Affected{Name: name, Priority: &priority, Keys: keys}
	}
	free := func(name string, keys ...string) Affected { return Affected{Name: name, Keys: keys} }
	for _, c := range []struct {
		name string
		in   []Affected
		want [][]string
	}{
		{"nothing", nil, nil},
		{"no priorities", []Affected{free("a"), free("b")}, [][]string{{"a", "b"}}},
		{"two priorities (074)", []Affected{at("main", 0), at("side", 1)}, [][]string{{"side"}, {"main"}}},
		{"ordered", []Affected{at("a", 0), at("b", -1), at("c", -2)}, [][]string{{"a"}, {"b"}, {"c"}}},
		{"equal ones together", []Affected{at("a", 5), at("b", 1), at("c", 5)}, [][]string{{"a", "c"}, {"b"}}},
		{"without a priority at once", []Affected{at("a", 1), free("b"), at("c", 2)}, [][]string{{"b", "c"}, {"a"}}},
		{"a shared key pulls in", []Affected{at("a", 2, "x"), at("b", 1, "x"), at("c", 0)}, [][]string{{"a", "b"}, {"c"}}},
		{"through a third", []Affected{at("a", 2, "x"), at("b", 1, "x", "y"), at("c", 0, "y")}, [][]string{{"a", "b", "c"}}},
		{"other keys do not", []Affected{at("a", 2, "x"), at("b", 1, "y")}, [][]string{{"a"}, {"b"}}},
	} {
		if diff := cmp.Diff(c.want, InPlaceBatches(c.in)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestInPlacePending(t *testing.T) {
	recorded := func(state string) func(*cluster.Pod) {
		return func(p *cluster.Pod) {
			p.Annotations = map[string]string{kruise.InPlaceUpdateStateAnnotation: state}
		}
	}
	one := `{"revision":"web-n","updateTimestamp":"2026-07-01T12:59:00Z","lastContainerStatuses":{"main":{"imageID":"sha256:1"}},"updateImages":true}`
	for _, c := range []struct {
		name string
		edit func(*cluster.Pod)
		node NodeReport
		want string
	}{
		{"never updated", func(*cluster.Pod) {}, NodeReport{}, ""},
		{"grace period", func(p *cluster.Pod) { p.Annotations = map[string]string{kruise.InPlaceUpdateGraceAnnotation: "{}"} }, NodeReport{}, "grace"},
		{"unreadable", recorded("{"), NodeReport{}, "cannot be read"},
		{"still the old image", func(p *cluster.Pod) { recorded(one)(p); p.Containers[0].Image = "web:2" }, NodeReport{}, "main does not run web:2"},
		{"the hashes say more", func(p *cluster.Pod) { recorded(one)(p); p.Containers[0].Image = "web:2" }, NodeReport{PlainHashes: true}, ""},
		{"other imageID", func(p *cluster.Pod) {
			recorded(one)(p)
			p.Containers[0].Image, p.Containers[0].ImageID = "web:2", "sha256:2"
		}, NodeReport{}, ""},
		{"same content under a new name", func(p *cluster.Pod) {
			recorded(one)(p)
			p.Containers[0].Image, p.Containers[0].StatusImage = "web:2", "web:2"
		}, NodeReport{}, ""},
		{"latest is written out", func(p *cluster.Pod) {
			recorded(one)(p)
			p.Containers[0].Image, p.Containers[0].StatusImage = "reg:5000/web", "reg:5000/web:latest"
		}, NodeReport{}, ""},
		{"no status", func(p *cluster.Pod) {
			recorded(one)(p)
			p.Containers[0] = cluster.Container{Name: "main", Image: "web:2"}
		}, NodeReport{}, "main does not run"},
		{"container gone", func(p *cluster.Pod) { recorded(one)(p); p.Containers = nil }, NodeReport{}, "main does not run its image"},
		{"next batch", recorded(`{"nextContainerImages":{"side":"log:2"}}`), NodeReport{}, "lower launch priority"},
		{"env", recorded(`{"updateEnvFromMetadata":true}`), NodeReport{PlainHashes: true}, "env changed"},
		{"env done", recorded(`{"updateEnvFromMetadata":true}`), NodeReport{EnvHashes: true}, ""},
		{"resources", recorded(`{"updateResources":true}`), NodeReport{}, "resources"},
		{"resources done", recorded(`{"updateResources":true}`), NodeReport{Resources: true}, ""},
		{"metadata only", recorded(`{"revision":"web-n","lastContainerStatuses":{}}`), NodeReport{}, ""},
	} {
		p := pod("p1", "n")
		c.edit(p)
		expect(t, c.name, InPlacePending(p, c.node), c.want)
	}
}

func TestWithTag(t *testing.T) {
	for in, want := range map[string]string{
		"web": "web:latest", "web:1": "web:1", "reg:5000/web": "reg:5000/web:latest", "reg:5000/web:1": "reg:5000/web:1",
		"web@sha256:ab": "web@sha256:ab", "": "",
	} {
		if got := withTag(in); got != want {
			t.Errorf("withTag(%q) = %q, want %q", in, got, want)
		}
	}
}
