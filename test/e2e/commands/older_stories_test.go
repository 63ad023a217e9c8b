package commands

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestOlderStories: what users of the older plugin do most, in their words.
func TestOlderStories(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.settle(t, cloneSet("web", ""), webCloneSet)
	for _, s := range []struct {
		task string
		args string
		says []string
	}{
		{"look around", "get cloneset web", []string{"web"}},
		{"a new image", "set image cloneset/web main=registry.example.com/web:2", []string{"cloneset.apps.kruise.io/web image updated\n"}},
		{"wait for it", "rollout status cloneset web --timeout 2m", nil},
		{"what was there", "rollout history clone/web", []string{"REVISION"}},
		{"take it back", "rollout undo cloneset/web", []string{"cloneset.apps.kruise.io/web rolled back\n"}},
		{"hold it", "rollout pause cloneset web", []string{"cloneset.apps.kruise.io/web paused\n"}},
		{"let it go on", "rollout resume cloneset web", []string{"cloneset.apps.kruise.io/web resumed\n"}},
		{"make all pods anew", "rollout restart cloneset/web", []string{"cloneset.apps.kruise.io/web restarted\n"}},
		{"a variable", "set env cloneset/web COLOR=blue", []string{"cloneset.apps.kruise.io/web env updated\n"}},
		{"wait again", "rollout status clone/web", nil},
		{"more pods", "scale cloneset/web --replicas 4", []string{"cloneset.apps.kruise.io/web scaled\n"}},
		{"tell all", "describe cloneset web", []string{"web"}},
	} {
		if a := b.call(t, strings.Fields(s.args)...).ends(t, 0, s.says...); a.code != 0 {
			t.Fatalf("%s failed", s.task)
		}
	}
	u := b.await(t, kruiseV1, "CloneSet", "web", func(u *unstructured.Unstructured) bool { return ready(u) && at(u, "status.replicas") == "4" })
	if image := at(u, "spec.template.spec.containers.0.image"); image != "registry.example.com/web:1" {
		t.Errorf("the image is %s", image)
	}
}
