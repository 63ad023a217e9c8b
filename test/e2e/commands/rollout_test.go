package commands

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// settle applies documents and waits until their workloads are ready.
func (b *bed) settle(t *testing.T, documents string, workloads ...[2]string) {
	t.Helper()
	b.Apply(t, b.namespace, documents)
	for _, w := range workloads {
		b.await(t, w[0], w[1], "web", ready)
	}
}

var (
	webCloneSet   = [2]string{kruiseV1, "CloneSet"}
	webDeployment = [2]string{"apps/v1", "Deployment"}
)

// patched sends a merge patch to a workload named web.
func (b *bed) patched(t *testing.T, w [2]string, body string) {
	t.Helper()
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(w[0])
	u.SetKind(w[1])
	client, err := b.Resource(u, b.namespace)
	must(t, err)
	_, err = client.Patch(t.Context(), "web", types.MergePatchType, []byte(body), metav1.PatchOptions{})
	must(t, err)
}

// TestRolloutPause_PrintsKubectlsLines: one after the other, with kubectl's lines, formats and dry runs.
func TestRolloutPause_PrintsKubectlsLines(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.settle(t, cloneSet("web", "")+workload("apps/v1", "Deployment", "web", ""), webCloneSet, webDeployment)
	b.call(t, "rollout", "pause", "cloneset/web", "--dry-run=client").prints(t, "cloneset.apps.kruise.io/web paused (dry run)")
	b.call(t, "rollout", "pause", "cloneset/web", "--dry-run=server").prints(t, "cloneset.apps.kruise.io/web paused (server dry run)")
	b.call(t, "rollout", "pause", "cloneset/web", "deployment/web").prints(t, "cloneset.apps.kruise.io/web paused", "deployment.apps/web paused")
	for w, path := range map[[2]string]string{webCloneSet: "spec.updateStrategy.rollingUpdate.paused", webDeployment: "spec.paused"} {
		if got := at(b.get(t, w[0], w[1], "web"), path); got != "true" {
			t.Errorf("%s: %q", w[1], got)
		}
	}
	b.call(t, "rollout", "pause", "clone", "web").ends(t, 1, `clonesets.apps.kruise.io "web" is already paused`)
	b.call(t, "rollout", "restart", "deployment/web").ends(t, 1, "can't restart paused deployment (run rollout resume first)")
	b.call(t, "rollout", "resume", "cloneset", "web", "-o", "name").prints(t, "cloneset.apps.kruise.io/web")
	b.call(t, "rollout", "resume", "cloneset/web", "deployment/web").
		ends(t, 1, "deployment.apps/web resumed", `clonesets.apps.kruise.io "web" is not paused`)
	b.pipe(t, cloneSet("web", ""), "rollout", "pause", "-f", "-", "-o", "jsonpath={.metadata.name}").ends(t, 0, "web")
	b.call(t, "rollout", "pause").ends(t, 2, "required resource not specified")
	b.call(t, "rollout", "pause", "cloneset/none").ends(t, 1, `clonesets.apps.kruise.io "none" not found`)
	b.call(t, "rollout", "pause", "configmap/web").ends(t, 2, "unknown type")
	b.call(t, "rollout", "pause", "pod/web").ends(t, 1, `pods "web" not found`)
}

// TestDefectRestart_RestartsEveryObject: every object that is named is restarted, not the first alone, and
// each in the way that its controller heeds.
func TestDefectRestart_RestartsEveryObject(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.settle(t, cloneSet("web", "")+workload("apps/v1", "Deployment", "web", ""), webCloneSet, webDeployment)
	b.call(t, "rollout", "restart", "deployment/web", "cloneset/web").
		ends(t, 0, "deployment.apps/web restarted\n", "cloneset.apps.kruise.io/web restarted\n")
	if got := at(b.get(t, kruiseV1, "CloneSet", "web"), "spec.template.spec.containers.0.env.0.name"); got != "RESTARTED_AT" {
		t.Errorf("the CloneSet's first variable is %q", got)
	}
	template := at(b.get(t, "apps/v1", "Deployment", "web"), "spec.template.metadata.annotations")
	if !strings.Contains(template, "kubectl.kubernetes.io/restartedAt") {
		t.Errorf("the Deployment's template has %s", template)
	}
}

// TestDefectUndo_RemovesAddedFields: what the bad version had added is gone, a dry run writes nothing and
// breaks down on no kind, and going back to the present says so.
func TestDefectUndo_RemovesAddedFields(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.settle(t, cloneSet("web", ""), webCloneSet)
	b.patched(t, webCloneSet, `{"spec": {"template": {"metadata": {"labels": {"bad": "yes"}, "annotations": {"bad": "yes"}}, "spec": {"hostNetwork": false, "nodeSelector": {"bad": "yes"}}}}}`)
	b.patched(t, webCloneSet, `{"spec": {"template": {"spec": {"nodeSelector": null}}}}`)
	b.await(t, kruiseV1, "CloneSet", "web", ready)
	before := at(b.get(t, kruiseV1, "CloneSet", "web"), "metadata.generation")
	for _, mode := range []string{"client", "server"} {
		b.call(t, "rollout", "undo", "cloneset/web", "--to-revision", "1", "--dry-run="+mode).ends(t, 0, "cloneset.apps.kruise.io/web rolled back (")
	}
	if got := at(b.get(t, kruiseV1, "CloneSet", "web"), "metadata.generation"); got != before {
		t.Errorf("a dry run wrote generation %s, after %s", got, before)
	}
	b.call(t, "rollout", "undo", "cloneset/web", "--to-revision", "1").ends(t, 0, "cloneset.apps.kruise.io/web rolled back\n")
	u := b.get(t, kruiseV1, "CloneSet", "web")
	for _, path := range []string{"labels.bad", "annotations.bad"} {
		if got := at(u, "spec.template.metadata."+path); got != "" {
			t.Errorf("%s is still %q", path, got)
		}
	}
	b.call(t, "rollout", "undo", "cloneset/web", "--to-revision", "9").ends(t, 1, "has no revision 9")
	history := b.call(t, "rollout", "history", "cloneset", "web").ends(t, 0, "REVISION", "(current)")
	present := ""
	for line := range strings.Lines(history.out) {
		if strings.Contains(line, "(current)") {
			present = strings.Fields(line)[0]
		}
	}
	b.call(t, "rollout", "undo", "cloneset/web", "--to-revision", present).
		ends(t, 0, "cloneset.apps.kruise.io/web skipped rollback (current template already matches revision "+present+")")
}

// TestDefectUndo_DryRunOfAStatefulSet: the older plugin crashed.
func TestDefectUndo_DryRunOfAStatefulSet(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	web := [2]string{kruiseV1, "StatefulSet"}
	b.settle(t, workload(kruiseV1, "StatefulSet", "web", "serviceName: web"), web)
	b.call(t, "rollout", "undo", "asts/web", "--dry-run").ends(t, 1, "has no older revision")
	b.patched(t, web, `{"spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}}`)
	b.await(t, kruiseV1, "StatefulSet", "web", func(u *unstructured.Unstructured) bool { return ready(u) && at(u, "status.updatedReplicas") == "3" })
	b.call(t, "rollout", "undo", "asts", "web", "--dry-run", "-o", "yaml").ends(t, 0, "kind: StatefulSet")
}

// TestDefectStatus_WaitsForPods: it is not done before the pods are: neither in place, nor where all
// pods are ready and old, nor at a partition.
func TestDefectStatus_WaitsForPods(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.settle(t, cloneSet("web", "updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 1}}"), webCloneSet)
	b.patched(t, webCloneSet, `{"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "registry.example.com/web:2"}]}}}}`)
	b.call(t, "rollout", "status", "cloneset/web", "--timeout", "2m").ends(t, 0)
	if u := b.get(t, kruiseV1, "CloneSet", "web"); at(u, "status.updatedReadyReplicas") != "3" {
		t.Errorf("done with %s of 3 updated", at(u, "status.updatedReadyReplicas"))
	}
	b.patched(t, webCloneSet, `{"spec": {"updateStrategy": {"rollingUpdate": {"podUpdatePolicy": "ReCreate", "partition": "34%"}}, "template": {"spec": {"containers": [{"name": "main", "image": "registry.example.com/web:3"}]}}}}`)
	b.call(t, "rollout", "status", "cloneset/web", "--timeout", "2m", "-d").ends(t, 0, "Updated ready pods: [web-")
	u := b.get(t, kruiseV1, "CloneSet", "web")
	if updated := at(u, "status.updatedReadyReplicas"); updated != "1" && updated != "2" || at(u, "status.observedGeneration") != at(u, "metadata.generation") {
		t.Errorf("done with %s updated at a partition of 34%%", updated)
	}
	b.call(t, "rollout", "status", "cloneset", "web", "--watch=false").ends(t, 0, "cloneset")
	b.call(t, "rollout", "status", "cloneset/web", "--revision", "1").ends(t, 1, "is different from the running revision")
	b.call(t, "rollout", "status", "cloneset/web", "--revision=-1").ends(t, 2, "revision must be a positive integer: -1")
}

// TestDefectStatus_TimesOut: one that cannot finish is left in time, with a code of its own.
func TestDefectStatus_TimesOut(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.settle(t, cloneSet("web", ""), webCloneSet)
	b.patched(t, webCloneSet, `{"spec": {"template": {"spec": {"nodeSelector": {"no": "where"}}}}}`)
	b.call(t, "rollout", "status", "cloneset/web", "--timeout", "10s").ends(t, 4)
}
