package render

import (
	"context"
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// protectable are objects of every kind that Kruise protects, with NAME and LABELS
// to fill in.
var protectable = map[string]string{
	"Deployment":  `{apiVersion: apps/v1, kind: Deployment, metadata: {name: NAME, labels: LABELS}, spec: {replicas: 1, selector: {matchLabels: {app: NAME}}, template: {metadata: {labels: {app: NAME}}, spec: {containers: [{name: app, image: app}]}}}}`,
	"ReplicaSet":  `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: NAME, labels: LABELS}, spec: {replicas: 1, selector: {matchLabels: {app: NAME}}, template: {metadata: {labels: {app: NAME}}, spec: {containers: [{name: app, image: app}]}}}}`,
	"StatefulSet": `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: NAME, labels: LABELS}, spec: {replicas: 1, serviceName: NAME, selector: {matchLabels: {app: NAME}}, template: {metadata: {labels: {app: NAME}}, spec: {containers: [{name: app, image: app}]}}}}`,
	"Service":     `{apiVersion: v1, kind: Service, metadata: {name: NAME, labels: LABELS}, spec: {ports: [{port: 80}]}}`,
	"Ingress":     `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: NAME, labels: LABELS}, spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}}`,
	"Namespace":   `{apiVersion: v1, kind: Namespace, metadata: {name: NAME, labels: LABELS}}`,
	"CustomResourceDefinition": `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: NAMEs.lab.test, labels: LABELS},
  spec: {group: lab.test, scope: Namespaced, names: {kind: NAME, plural: NAMEs}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`,
	// Kruise does not protect it; a Namespace counts it.
	"PersistentVolumeClaim": `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: NAME, labels: LABELS}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`,
}

func protectableDoc(kind, name, label string) string {
	labels := "{}"
	if label != "" {
		labels = "{" + kruise.DeleteProtectionLabel + ": " + label + "}"
	}
	return strings.NewReplacer("NAME", name, "LABELS", labels).Replace(protectable[kind])
}

// guarded is a server with rendered policies of deletion protection.
type guarded struct {
	c         *cluster.Cluster
	namespace string
}

// protect renders the document and applies the policies that come of it.
func (g *guarded) protect(t *testing.T, document string, all bool) {
	t.Helper()
	stream, err := conformance.Docs([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	docs, _, err := rendered(stream, nil, engine.Options{Kubernetes: minor(t, g.c), ProtectAll: all})
	if err != nil {
		t.Fatal(err)
	}
	var policies []map[string]any
	for _, d := range docs {
		if kind, _ := d["kind"].(string); strings.HasPrefix(kind, "ValidatingAdmissionPolicy") {
			policies = append(policies, d)
		}
	}
	g.c.Apply(t, "", documents(t, policies...))
}

// made puts an object there and returns it.
func (g *guarded) made(t *testing.T, kind, name, label string) *unstructured.Unstructured {
	t.Helper()
	return g.c.Apply(t, g.namespace, protectableDoc(kind, name, label))[0]
}

// deletion asks whether the server would delete the object.
func (g *guarded) deletion(ctx context.Context, o *unstructured.Unstructured) error {
	client, err := g.c.Resource(o, g.namespace)
	if err != nil {
		return err
	}
	return client.Delete(ctx, o.GetName(), metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
}

// denies waits until deletion is denied, with Kruise's words.
func (g *guarded) denies(t *testing.T, o *unstructured.Unstructured, words string) {
	t.Helper()
	eventually(t, o.GetKind()+" "+o.GetName()+" is protected", func() bool {
		err := g.deletion(t.Context(), o)
		return apierrors.IsForbidden(err) && strings.Contains(err.Error(), words)
	})
}

func (g *guarded) allows(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	if err := g.deletion(t.Context(), o); err != nil {
		t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
	}
}

// patch merges a change into the object.
func (g *guarded) patch(t *testing.T, o *unstructured.Unstructured, change string) {
	t.Helper()
	client, err := g.c.Resource(o, g.namespace)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Patch(t.Context(), o.GetName(), "application/merge-patch+json", []byte(change), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

const forbidden = "forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection="

// TestDeletionProtection_OnARealServer: docs/kruise/protection.md#deletion-protection on a real API
// server, as far as a policy can tell.
func TestDeletionProtection_OnARealServer(t *testing.T) {
	c, namespace := cluster.Shared(t, cluster.WithNodes())
	g := &guarded{c: c, namespace: namespace}
	service := g.made(t, "Service", "early", "Always")
	g.protect(t, protectableDoc("Deployment", "web", "Always"), false)
	g.denies(t, g.made(t, "Deployment", "early", "Always"), forbidden+"Always")
	g.allows(t, service)

	g.protect(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: any}}", true)
	for kind := range protectable {
		t.Run(kind, func(t *testing.T) { g.protects(t, kind) })
	}
	t.Run("a deletion that has begun", g.letsFinish)
	t.Run("an eviction", g.evicts)
}

// protects goes through the values of the label for one kind.
func (g *guarded) protects(t *testing.T, kind string) {
	t.Helper()
	name := strings.ToLower(kind) + "-"
	always := g.made(t, kind, name+"always", "Always")
	if kind == "PersistentVolumeClaim" {
		g.allows(t, always)
		return
	}
	g.denies(t, always, forbidden+"Always")
	g.allows(t, g.made(t, kind, name+"plain", ""))
	g.allows(t, g.made(t, kind, name+"other", "never"))
	cascading := g.made(t, kind, name+"cascading", "Cascading")
	if _, scaled, _ := unstructured.NestedInt64(cascading.Object, "spec", "replicas"); scaled {
		g.denies(t, cascading, forbidden+"Cascading")
		g.patch(t, cascading, `{"spec":{"replicas":0}}`)
	}
	g.allows(t, cascading)
	g.patch(t, always, `{"metadata":{"labels":{"`+kruise.DeleteProtectionLabel+`":null}}}`)
	g.allows(t, always)
}

// letsFinish: an object that is being deleted when it gets the label goes all the
// same.
func (g *guarded) letsFinish(t *testing.T) {
	o := g.made(t, "Service", "going", "")
	g.patch(t, o, `{"metadata":{"finalizers":["lab.test/hold"]}}`)
	client, err := g.c.Resource(o, g.namespace)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Delete(t.Context(), o.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	g.patch(t, o, `{"metadata":{"labels":{"`+kruise.DeleteProtectionLabel+`":"Always"}}}`)
	g.allows(t, o)
	g.patch(t, o, `{"metadata":{"finalizers":null}}`)
	if _, err := client.Get(t.Context(), o.GetName(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("still there: %v", err)
	}
}

// evicts: the pods of a protected workload are not protected, as with Kruise.
func (g *guarded) evicts(t *testing.T) {
	g.c.Apply(t, g.namespace, `{apiVersion: v1, kind: Pod, metadata: {name: evicted, labels: {`+kruise.DeleteProtectionLabel+`: Always}}, spec: {containers: [{name: app, image: app}]}}`)
	err := g.c.Client().CoreV1().Pods(g.namespace).EvictV1(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "evicted"}})
	if err != nil {
		t.Error(err)
	}
}
