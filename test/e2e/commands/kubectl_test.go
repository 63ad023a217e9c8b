package commands

import (
	"strings"
	"testing"
)

// TestKubectlVerbs_WorkOnKruiseKinds: what is taken over from kubectl works on Kruise's kinds and ends as our
// own commands do.
func TestKubectlVerbs_WorkOnKruiseKinds(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", ""))
	b.await(t, kruiseV1, "CloneSet", "web", ready)
	b.call(t, "patch", "clone/web", "--type", "merge", "-p", `{"spec":{"minReadySeconds":1}}`).prints(t, "cloneset.apps.kruise.io/web patched")
	b.call(t, "patch", "clone/none", "--type", "merge", "-p", "{}").ends(t, 1, `Error from server (NotFound): clonesets.apps.kruise.io "none" not found`)
	for _, args := range [][]string{{"get", "clone/none"}, {"delete", "clone", "none"}, {"describe", "clone/none"}, {"logs", "none"}, {"exec", "none", "--", "true"}, {"scale", "clone/none", "--replicas=1"}} {
		if a := b.call(t, args...).ends(t, 1, "Error from server (NotFound): "); strings.Count(a.err, "rror") != 1 {
			t.Errorf("%q:\n%s", args, a.err)
		}
	}
	b.call(t, "wait", "clone/web", "--for", "jsonpath={.status.readyReplicas}=3", "--timeout", "60s").prints(t, "cloneset.apps.kruise.io/web condition met")
	b.call(t, "wait", "clone/web", "--for", "delete", "--timeout", "1ms").ends(t, 1, "error: ")
	b.pipe(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: none}}", "replace", "-f", "-").ends(t, 1, `"none" not found`)
	b.call(t, "api-resources", "--api-group", "apps.kruise.io", "-o", "name").ends(t, 0, "clonesets.apps.kruise.io\n")
	b.call(t, "explain", "cloneset.spec.replicas").ends(t, 0, "KIND:       CloneSet", "FIELD: replicas <integer>")
	b.call(t, "explain", "clone.spec.updateStrategy").ends(t, 0, "KIND:       CloneSet", "FIELD: updateStrategy <Object>")
	b.call(t, "explain", "cloneset.spec.none").ends(t, 1, `field "none" does not exist`)
	b.call(t, "api-versions").ends(t, 0, kruiseV1+"\n")
}
