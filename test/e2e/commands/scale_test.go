package commands

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestScale_EveryKind: Kruise's kinds and Kubernetes' own.
func TestScale_EveryKind(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", "")+workload(native, "Deployment", "web", ""))
	for _, arg := range []string{"cloneset.apps.kruise.io/web", "deployment.apps/web"} {
		b.call(t, "scale", arg, "--replicas=4", "--dry-run=server").prints(t, arg+" scaled (server dry run)")
		b.call(t, "scale", arg, "--replicas=4").prints(t, arg+" scaled")
		b.call(t, "scale", arg, "--current-replicas=3", "--replicas=5").ends(t, 1, "Expected replicas to be 3, was 4")
		b.call(t, "autoscale", arg, "--name", strings.ReplaceAll(arg, "/", "-"), "--min=2", "--max=5", "--cpu=80%").ends(t, 0, "autoscaled")
	}
	if got := at(b.get(t, kruiseV1, "CloneSet", "web"), "spec.replicas"); got != "4" {
		t.Errorf("%s replicas", got)
	}
	hpa := b.get(t, "autoscaling/v2", "HorizontalPodAutoscaler", "cloneset.apps.kruise.io-web")
	if got := at(hpa, "spec.scaleTargetRef"); got != "map[apiVersion:"+kruiseV1+" kind:CloneSet name:web]" {
		t.Errorf("the target is %s", got)
	}
	b.call(t, "scale", "cloneset/web").ends(t, 2, `required flag(s) "replicas" not set`)
	b.call(t, "autoscale", "sidecarset/web", "--max=3").ends(t, 1, "not found")
	b.call(t, "scale", "cloneset/web", "--replicas=-1").ends(t, 1, "must be greater than or equal to 0")
}

// podsOf are the names of the pods of a workload that stay.
func (b *bed) podsOf(t *testing.T, app string) []string {
	t.Helper()
	list, err := b.Client().CoreV1().Pods(b.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
	must(t, err)
	var out []string
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil {
			out = append(out, list.Items[i].Name)
		}
	}
	return out
}

// settled waits until a workload has as many pods as it wants, all ready.
func settled(u *unstructured.Unstructured) bool {
	return ready(u) && at(u, "status.replicas") == at(u, "spec.replicas")
}

// TestScaledown_DeletesNamedPods: the pods that are named go, and no others.
func TestScaledown_DeletesNamedPods(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", "")+workload(kruiseV1, "StatefulSet", "db", "podManagementPolicy: Parallel"))
	b.await(t, kruiseV1, "CloneSet", "web", settled)
	b.await(t, kruiseV1, "StatefulSet", "db", settled)
	pods := b.podsOf(t, "web")
	named := pods[0] + ", " + pods[1] + "," + pods[0]
	b.call(t, "scaledown", "cloneset/web", "--pods", named, "--dry-run=server").prints(t, "cloneset.apps.kruise.io/web selective pod deletion (server dry run)")
	b.call(t, "scaledown", "CloneSet", "web", "--pods", named).
		prints(t, "# web delete pods ["+pods[0]+" "+pods[1]+"] successfully", "cloneset.apps.kruise.io/web selective pod deletion")
	b.await(t, kruiseV1, "CloneSet", "web", func(u *unstructured.Unstructured) bool {
		return settled(u) && at(u, "spec.replicas") == "1" && at(u, "spec.scaleStrategy.podsToDelete.0") == ""
	})
	if got := b.podsOf(t, "web"); len(got) != 1 || got[0] != pods[2] {
		t.Errorf("%q are left, want %q", got, pods[2])
	}
	b.call(t, "scaledown", "asts/db", "--pods", "db-1", "-o", "name").prints(t, "statefulset.apps.kruise.io/db")
	b.await(t, kruiseV1, "StatefulSet", "db", func(u *unstructured.Unstructured) bool { return settled(u) && at(u, "spec.replicas") == "2" })
	if got := b.podsOf(t, "db"); strings.Join(got, " ") != "db-0 db-2" {
		t.Errorf("%q are left", got)
	}
}

// TestDefectScaledown_RefusesForeignPods: the older plugin had no dry run, took names that were none of
// the workload's pods, went negative, and failed on the example of its own help.
func TestDefectScaledown_RefusesForeignPods(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", "")+cloneSet("other", "")+workload(native, "Deployment", "dep", ""))
	b.await(t, kruiseV1, "CloneSet", "web", settled)
	b.await(t, kruiseV1, "CloneSet", "other", settled)
	pods, others := b.podsOf(t, "web"), b.podsOf(t, "other")
	b.call(t, "scaledown", "cloneset/web", "--pods", pods[0]+","+others[0]).ends(t, 1, "has no pod "+others[0], "it has "+pods[0])
	b.call(t, "scaledown", "cloneset/web", "--pods", "a,b,c,d,e").ends(t, 1, "has no pod a, b, c, d, e")
	b.call(t, "scaledown", "cloneset/web", "--pods", " ,").ends(t, 2, "must specify one pod name")
	b.call(t, "scaledown", "cloneset/web").ends(t, 2, "must specify one pod name")
	b.call(t, "scaledown", "cloneset/web", "cloneset/other", "--pods", pods[0]).ends(t, 2, "expected one object")
	b.call(t, "scaledown", "deployment/dep", "--pods", "a").ends(t, 1, "currently only supported CloneSet", "pod-deletion-cost")
	a := b.call(t, "scaledown", "cloneset/web", "--pods", strings.Join(pods, ","), "--dry-run=client", "-o", "jsonpath={.spec.replicas}").ends(t, 0)
	if u := b.get(t, kruiseV1, "CloneSet", "web"); a.out != "0" || at(u, "spec.replicas") != "3" {
		t.Errorf("would have %s, has %s replicas", a.out, at(u, "spec.replicas"))
	}
	b.call(t, "scaledown", "cloneset", "web", "--pods", pods[0]).ends(t, 0, "# web delete pods ["+pods[0]+"] successfully")
}

// TestProtect_RefusesDeletion: what is protected stays, and delete says why.
func TestProtect_RefusesDeletion(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", "")+workload(native, "Deployment", "dep", "")+`
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
`)
	b.call(t, "protect", "cloneset/web", "service/web").prints(t, "cloneset.apps.kruise.io/web protected", "service/web protected")
	b.call(t, "protect", "cloneset/web").prints(t)
	b.call(t, "protect", "deployment/dep", "--mode", "Cascading").prints(t, "deployment.apps/dep protected")
	b.call(t, "protect", "service/web", "--mode", "Cascading").ends(t, 1, "Cascading protects no Service")
	b.call(t, "protect", "configmap/web").ends(t, 1, "Always protects no ConfigMap")
	b.call(t, "protect", "configmap/web", "--mode", "Sometimes").ends(t, 2, `unknown value "Sometimes"`)

	b.call(t, "delete", "cloneset/web", "configmap/web").
		ends(t, 1, `configmap "web" deleted`, "delete-protection=Always", "hint: ", "'kubectl kruise unprotect cloneset.apps.kruise.io/web -n ", "' lifts it")
	b.call(t, "delete", "deployment/dep").ends(t, 1, "delete-protection=Cascading", "when nothing is below it", "unprotect deployment.apps/dep")
	b.terminal(t, "y\n", "delete", "service/web", "-i").ends(t, 1, "unprotect service/web")
	b.call(t, "scale", "deployment/dep", "--replicas=0").ends(t, 0)
	b.call(t, "delete", "deployment/dep").ends(t, 0, `deployment.apps "dep" deleted`)
	b.call(t, "unprotect", "cloneset/web", "service/web").prints(t, "cloneset.apps.kruise.io/web unprotected", "service/web unprotected")
	b.call(t, "delete", "cloneset/web", "service/web").ends(t, 0)
	b.call(t, "delete", "cloneset/missing").ends(t, 1, `"missing" not found`)
	b.call(t, "delete").ends(t, 1, "error: ")
}

// TestDelete_ExplainsARefusalOfABudget: a refusal of a PodUnavailableBudget is explained.
func TestDelete_ExplainsARefusalOfABudget(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", "")+`
apiVersion: policy.kruise.io/v1beta1
kind: PodUnavailableBudget
metadata: {name: guard}
spec: {selector: {matchLabels: {app: web}}, minAvailable: 100%}
`)
	b.await(t, kruiseV1, "CloneSet", "web", settled)
	b.await(t, "policy.kruise.io/v1beta1", "PodUnavailableBudget", "guard", func(u *unstructured.Unstructured) bool {
		return at(u, "status.totalReplicas") == "3" && at(u, "status.currentAvailable") == "3"
	})
	pod := b.podsOf(t, "web")[0]
	b.await(t, "v1", "Pod", pod, func(u *unstructured.Unstructured) bool { return at(u, "status.phase") == string(corev1.PodRunning) })
	b.call(t, "delete", "pod/"+pod).ends(t, 1, "PodUnavailableBudget guard lets no more pods go now", "3 of 3 pods available, 3 must be")
}
