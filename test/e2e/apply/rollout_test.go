package apply

import (
	"maps"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

const (
	web1 = "registry.example.com/web:1"
	web2 = "registry.example.com/web:2"
)

// TestApply_RollsOutAChangedWorkload: a new workload is created; a changed one is rolled out by plan, and
// what it has beside its template is applied. Twice in a row, so that fields which
// the first rollout wrote are seen to be the manifest's again.
func TestApply_RollsOutAChangedWorkload(t *testing.T) {
	for name, c := range map[string]struct {
		text   func(image, more string) string
		object string
		// first and then are what changes beside the image.
		first, then string
	}{
		"CloneSet": {
			text:   func(image, more string) string { return document("apps.kruise.io/v1beta1", "CloneSet", image, more) },
			object: "cloneset.apps.kruise.io/web", first: "minReadySeconds: 0", then: "updateStrategy: {rollingUpdate: {maxUnavailable: 2}}",
		},
		"Deployment": {
			text:   func(image, more string) string { return document("apps/v1", "Deployment", image, more) },
			object: "deployment.apps/web", first: "minReadySeconds: 0", then: "revisionHistoryLimit: 3",
		},
		"Advanced StatefulSet": {
			text: func(image, more string) string {
				return document("apps.kruise.io/v1beta1", "StatefulSet", image, "serviceName: web\n  podManagementPolicy: Parallel\n  "+more)
			},
			object: "statefulset.apps.kruise.io/web", first: "revisionHistoryLimit: 9", then: "updateStrategy: {rollingUpdate: {maxUnavailable: 2}}",
		},
		// Sent as v1alpha1, its status would lose fields that are waited for.
		"Advanced StatefulSet in v1alpha1": {
			text: func(image, more string) string {
				return document("apps.kruise.io/v1alpha1", "StatefulSet", image, "serviceName: web\n  podManagementPolicy: Parallel\n  "+more)
			},
			object: "statefulset.apps.kruise.io/web", first: "revisionHistoryLimit: 9", then: "updateStrategy: {rollingUpdate: {maxUnavailable: 2}}",
		},
		"Advanced DaemonSet": {
			text: func(image, more string) string {
				return strings.Replace(document("apps.kruise.io/v1beta1", "DaemonSet", image, more), "  replicas: 3\n", "", 1)
			},
			object: "daemonset.apps.kruise.io/web", first: "minReadySeconds: 0", then: "updateStrategy: {rollingUpdate: {maxUnavailable: 2}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.done(t, c.text("1", c.first)).has(t, c.object+" created")
			pods := b.images(t)[web1]
			if pods < 3 {
				t.Fatalf("not waited for: %v", b.images(t))
			}
			for i, image := range []string{"2", "3", "3"} {
				want := c.object + " rolled out"
				if i == 2 {
					want = c.object + " unchanged"
				}
				b.done(t, settings+c.text(image, c.then), "--steps", "1,100%", "--pull-images", "never").has(t, want)
				if got := b.images(t); got["registry.example.com/web:"+image] != pods {
					t.Errorf("after %s: %v", image, got)
				}
			}
		})
	}
}

// TestDryRun_ShowsEveryRequest: a dry run shows every request, in order, and is right about them.
func TestDryRun_ShowsEveryRequest(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	one := document("apps.kruise.io/v1beta1", "CloneSet", "1", "")
	b.done(t, settings+one+zones, "--applyset", "shop")
	two := document("apps.kruise.io/v1beta1", "CloneSet", "2", "minReadySeconds: 1")
	a := b.apply(t, secret+two+strings.Replace(zones, "web:1", "web:2", 1), "--applyset", "shop", "--prune", "--steps", "1,100%", "--pull-images", "never", "--dry-run", "server")
	a.is(t, 0)
	if strings.Contains(a.out, "hunter2") {
		t.Error("the secret is shown")
	}
	at := 0
	for _, want := range []string{
		"requests, in this order",
		"PATCH /api/v1/namespaces/" + b.namespace + "/secrets/shop  application/apply-patch+yaml",
		"/secrets/key  application/apply-patch+yaml",
		"/clonesets/web  application/json-patch+json: update the template and 1 of 3 pods",
		"minReadySeconds",
		"application/merge-patch+json: update 2 more pods",
		"/clonesets/web  application/apply-patch+yaml",
		"/uniteddeployments/web  application/json-patch+json: the template, with all subsets held back",
		"zone-b: 2147483647",
		"subset zone-b: update the template and 1 of 2 pods",
		"subset zone-a: update 2 more pods",
		"DELETE /api/v1/namespaces/" + b.namespace + "/configmaps/settings",
		"/secrets/shop  application/apply-patch+yaml",
	} {
		i := strings.Index(a.out[at:], want)
		if i < 0 {
			t.Fatalf("no %q after byte %d of\n%s", want, at, a.out)
		}
		at += i + len(want)
	}
	if got := b.images(t); got[web1] != 8 {
		t.Errorf("a dry run has changed pods: %v", got)
	}
}

// TestApply_RemovesFieldsThatLeftTheManifest: after a rollout everything is applied, so that a container's
// variable that goes from the manifest goes from the workload.
func TestApply_RemovesFieldsThatLeftTheManifest(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	plain := document("apps/v1", "Deployment", "1", "")
	b.done(t, plain)
	b.done(t, strings.Replace(plain, `web:1"`, `web:1", env: [{name: A, value: b}]`, 1), "--pull-images", "never")
	d := b.deployment(t, "web")
	if len(d.Spec.Template.Spec.Containers[0].Env) != 1 {
		t.Fatal("no variable")
	}
	for _, m := range d.ManagedFields {
		if m.Manager == "kubectl-kruise" && m.Operation == metav1.ManagedFieldsOperationUpdate && m.Subresource == "" {
			t.Errorf("fields that were not applied: %s", m.FieldsV1)
		}
	}
	b.done(t, plain, "--pull-images", "never").has(t, "deployment.apps/web rolled out")
	if env := b.deployment(t, "web").Spec.Template.Spec.Containers[0].Env; len(env) != 0 {
		t.Errorf("still there: %v", env)
	}
}

// TestApply_ContinuesAPausedRollout: a rollout that waits for a person ends the command, which prunes
// nothing then. The same apply waits on; one of another state refuses. When a user
// has promoted it, the same apply finishes it and prunes.
func TestApply_ContinuesAPausedRollout(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	one, two := document("apps.kruise.io/v1beta1", "CloneSet", "1", ""), document("apps.kruise.io/v1beta1", "CloneSet", "2", "")
	b.done(t, settings+one, "--applyset", "shop")
	how := []string{"--steps", "1,100%", "--pause-after", "1", "--pull-images", "never", "--applyset", "shop", "--prune", "--yes"}
	if a := b.apply(t, two, append(how, "--exit-on-pause")...); a.code != 5 {
		t.Fatalf("exit %d\n%s%s", a.code, a.out, a.err)
	}
	if got := b.images(t); got[web2] != 1 || got[web1] != 2 {
		t.Errorf("pods: %v", got)
	}
	if b.configMap(t, "settings") == nil {
		t.Error("pruned before the rollout was done")
	}
	if partition, _, _ := unstructured.NestedFieldNoCopy(b.cloneSet(t, "web").Object, "spec", "updateStrategy", "rollingUpdate", "partition"); partition == nil || partition == int64(0) {
		t.Errorf("partition: %v", partition)
	}
	three := document("apps.kruise.io/v1beta1", "CloneSet", "3", "")
	if a := b.apply(t, three, how...); a.code != 1 || !strings.Contains(a.err, "has a rollout already") {
		t.Errorf("exit %d\n%s", a.code, a.err)
	}
	if a := b.apply(t, two, append(how, "--exit-on-pause")...); a.code != 5 || !strings.Contains(a.err, "continuing the rollout of") {
		t.Errorf("exit %d\n%s%s", a.code, a.out, a.err)
	}
	b.run(t, "", "rollout", "promote", "cloneset/web", "--no-wait").is(t, 0)
	b.done(t, two, how...).has(t, "cloneset.apps.kruise.io/web rolled out", "configmap/settings pruned")
	if got := b.images(t); got[web2] != 3 {
		t.Errorf("pods: %v", got)
	}
}

// TestApply_KeepsWhatItsLastStepLeft: steps that end before all leave the rest of the pods where it is,
// and an apply to the end continues from there.
func TestApply_KeepsWhatItsLastStepLeft(t *testing.T) {
	for name, one := range map[string]string{
		"CloneSet":         strings.Replace(document("apps.kruise.io/v1beta1", "CloneSet", "1", ""), "replicas: 3", "replicas: 4", 1),
		"UnitedDeployment": strings.NewReplacer("replicas: 5", "replicas: 4", "{name: zone-a}", "{name: zone-a, replicas: 2}").Replace(zones),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.done(t, one)
			two := strings.ReplaceAll(one, "web:1", "web:2")
			for _, step := range []struct {
				to   string
				want map[string]int
			}{
				{"50%", map[string]int{web1: 2, web2: 2}},
				{"100%", map[string]int{web2: 4}},
			} {
				a := b.done(t, two, "--pull-images", "never", "--steps", step.to)
				// A write that frees pods is acted upon before the workload has settled again.
				b.run(t, "", "rollout", "status", strings.ToLower(name)+"/web", "--timeout", "30s")
				if got := b.images(t); !maps.Equal(got, step.want) {
					t.Errorf("after %s: %v, want %v\n%s%s", step.to, got, step.want, a.out, a.err)
				}
			}
			b.done(t, two).has(t, strings.ToLower(name)+".apps.kruise.io/web unchanged")
		})
	}
}

// TestApply_WithoutKruise: rendered for the client, pod by pod; the record is the source's.
func TestApply_WithoutKruise(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	one, two := document("apps.kruise.io/v1beta1", "CloneSet", "1", ""), document("apps.kruise.io/v1beta1", "CloneSet", "2", "")
	how := []string{"--target", "native", "--driver", "client", "--pull-images", "never"}
	b.done(t, one, how...).has(t, "replicaset.apps/web created")
	b.done(t, two, how...).has(t, "replicaset.apps/web rolled out")
	if got := b.images(t); got[web2] != 3 {
		t.Errorf("pods: %v", got)
	}
	b.done(t, two, how...).has(t, "replicaset.apps/web unchanged")
}

// TestApply_CreatesDefinitionBeforeObject: a kind and an object of it come together, in a namespace that does.
func TestApply_CreatesDefinitionBeforeObject(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	away := b.namespace + "-away"
	b.done(t, `
{apiVersion: example.com/v1, kind: Gadget, metadata: {name: one, namespace: `+away+`}, spec: {a: 1}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
{apiVersion: v1, kind: Namespace, metadata: {name: `+away+`}}
`).has(t, "namespace/"+away+" created", "customresourcedefinition.apiextensions.k8s.io/gadgets.example.com created", "gadget.example.com/one created in "+away)
	client, err := dynamic.NewForConfig(b.Config())
	must(t, err)
	_, err = client.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}).Namespace(away).Get(t.Context(), "one", metav1.GetOptions{})
	must(t, err)
}
