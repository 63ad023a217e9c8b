package apply

import (
	"strings"
	"testing"
)

// TestGroup_RollsOutInWaves: with the flags of a group, changed workloads are rolled out together, in waves;
// what has left the set goes when all are completed.
func TestGroup_RollsOutInWaves(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	one := inWave(document("apps.kruise.io/v1beta1", "CloneSet", "1", ""), "1")
	first := inWave(strings.NewReplacer("name: web", "name: zebra", "app: web", "app: zebra").Replace(document("apps.kruise.io/v1beta1", "CloneSet", "1", "")), "0")
	b.done(t, settings+one+first, "--applyset", "shop")
	changed := strings.ReplaceAll(one+first, "web:1", "web:2")
	how := []string{"--pull-images", "never", "--applyset", "shop", "--prune", "--group", "all", "--wave-by", "wave", "--parallel", "1"}
	b.apply(t, changed, append(how, "--dry-run", "server")...).is(t, 0, "estimate: ", "at most 1 rollout at a time")
	a := b.done(t, changed, how...)
	a.has(t, "cloneset.apps.kruise.io/web rolled out", "cloneset.apps.kruise.io/zebra rolled out", "configmap/settings pruned")
	if i, j := strings.Index(a.out, "cloneset/zebra: completed"), strings.Index(a.out, "cloneset/web: step 1/"); i < 0 || j < i {
		t.Errorf("the waves are not kept:\n%s", a.out)
	}
	if got := b.images(t); got[web2] != 6 {
		t.Errorf("pods: %v", got)
	}
	b.done(t, changed, how...).has(t, "cloneset.apps.kruise.io/web unchanged", "cloneset.apps.kruise.io/zebra unchanged")
	b.run(t, "", "rollout", "status", "--group", "all").has(t, "group all: completed: 2 of 2 completed")
}

// inWave gives a document a wave.
func inWave(text, wave string) string {
	return strings.Replace(text, "}\nspec:\n  replicas", ", annotations: {wave: \""+wave+"\"}}\nspec:\n  replicas", 1)
}

// TestGroup_FailureStopsTheNextWave: the next wave does not start, what is completed is applied to the end, and
// nothing is pruned. Subsets cannot be in a group.
func TestGroup_FailureStopsTheNextWave(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	text := func(name, wave string) string {
		return inWave(strings.NewReplacer("name: web", "name: "+name, "app: web", "app: "+name).Replace(document("apps.kruise.io/v1beta1", "CloneSet", "1", "")), wave)
	}
	a, bad, later := text("a", "0"), text("b", "0"), text("c", "1")
	b.done(t, settings+a+bad+later, "--applyset", "shop")
	how := []string{"--pull-images", "never", "--applyset", "shop", "--prune", "--yes", "--group", "all", "--wave-by", "wave"}
	changed := strings.ReplaceAll(a+later, "web:1", "web:2") + strings.Replace(bad, "registry.example.com/web:1", "bad.lab/web:2", 1)
	got := b.apply(t, changed, how...)
	got.is(t, 3)
	got.has(t, "cloneset.apps.kruise.io/a rolled out", "cloneset.apps.kruise.io/c waiting: its rollout was not started")
	if images := b.images(t); images[web2] != 3 || b.configMap(t, "settings") == nil {
		t.Errorf("pods: %v, settings: %v", images, b.configMap(t, "settings"))
	}
	b.apply(t, changed, how...).is(t, 1, "its last rollout failed", "rollout abort cloneset/", " --rollback")
	b.done(t, settings+zones)
	b.apply(t, strings.Replace(zones, "web:1", "web:2", 1), "--group", "all", "--yes").is(t, 2, "a UnitedDeployment cannot be in a group of rollouts")
}
