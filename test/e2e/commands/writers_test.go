package commands

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestFieldManager_IsTheGivenOne: who writes is kubectl-kruise, or who is named.
func TestFieldManager_IsTheGivenOne(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.settle(t, cloneSet("web", ""), webCloneSet)
	wrote := func(u *unstructured.Unstructured, manager string) bool {
		return slices.ContainsFunc(u.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool { return f.Manager == manager })
	}
	for i, line := range []string{
		"set env cloneset/web A=b", "set resources cloneset/web --limits=cpu=1", "rollout restart cloneset/web", "protect cloneset/web", "rollout pause cloneset/web",
	} {
		manager := "robot-" + strconv.Itoa(i)
		b.call(t, append(strings.Fields(line), "--field-manager", manager)...).ends(t, 0)
		if u := b.get(t, kruiseV1, "CloneSet", "web"); !wrote(u, manager) {
			t.Errorf("%s: %s has written nothing", line, manager)
		}
	}
	b.call(t, "set", "image", "cloneset/web", "main=registry.example.com/web:2").ends(t, 0)
	if !wrote(b.get(t, kruiseV1, "CloneSet", "web"), "kubectl-kruise") {
		t.Error("no field manager is kubectl-kruise")
	}
}

// TestHistory_PrintsRevisions: the workload as each revision made it, as kubectl prints it.
func TestHistory_PrintsRevisions(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.settle(t, cloneSet("web", "")+workload("apps/v1", "Deployment", "web", ""), webCloneSet, webDeployment)
	b.call(t, "set", "image", "cloneset/web", "deployment/web", "main=registry.example.com/web:2").ends(t, 0)
	for _, w := range [][2]string{webCloneSet, webDeployment} {
		b.await(t, w[0], w[1], "web", func(u *unstructured.Unstructured) bool { return ready(u) && at(u, "status.updatedReplicas") == "3" })
	}
	const image = "-o=jsonpath={.spec.template.spec.containers[0].image} "
	b.call(t, "rollout", "history", "cloneset/web", image).ends(t, 0, "registry.example.com/web:1 registry.example.com/web:2 ")
	b.call(t, "rollout", "history", "cloneset", "web", "--revision=1", image).ends(t, 0, "registry.example.com/web:1 ")
	b.call(t, "rollout", "history", "cloneset/web", "-o", "yaml").ends(t, 0, "kind: CloneSet", "---")
	b.call(t, "rollout", "history", "deployment/web", "-o", "name").ends(t, 0, "replicaset.apps/web-")
	b.call(t, "rollout", "history", "cloneset/web", "--revision=7", "-o", "name").ends(t, 1, "has no revision 7")
	b.call(t, "rollout", "history", "cloneset/web", "-o", "xml").ends(t, 2, "error: ")
}
