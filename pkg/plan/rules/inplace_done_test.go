package rules

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

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
