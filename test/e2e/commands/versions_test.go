package commands

import (
	"context"
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
)

const kruiseOld = "apps.kruise.io/v1alpha1"

// onlyOld has a cluster serve CloneSets, Advanced DaemonSets and SidecarSets in
// v1alpha1 alone, as Kruise did before 1.9.
func onlyOld() cluster.Option {
	return cluster.WithAddOn("v1alpha1 only", func(ctx context.Context, c *cluster.Cluster) error {
		client, err := clientset.NewForConfig(c.Config())
		if err != nil {
			return err
		}
		crds := client.ApiextensionsV1().CustomResourceDefinitions()
		for _, plural := range []string{"clonesets", "daemonsets", "sidecarsets"} {
			name := plural + ".apps.kruise.io"
			d, err := crds.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			patch := "["
			for i, v := range d.Spec.Versions {
				if v.Name != "v1alpha1" {
					patch += fmt.Sprintf(`{"op": "replace", "path": "/spec/versions/%d/served", "value": false}`, i)
				}
			}
			if _, err := crds.Patch(ctx, name, types.JSONPatchType, []byte(patch+"]"), metav1.PatchOptions{}); err != nil {
				return err
			}
		}
		return nil
	})
}

// served waits until discovery tells of a version alone.
func (b *bed) served(t *testing.T) {
	t.Helper()
	client, err := clientset.NewForConfig(b.Config())
	must(t, err)
	for _, plural := range []string{"clonesets", "daemonsets", "sidecarsets"} {
		_, err := cluster.Await(t.Context(), client.ApiextensionsV1().CustomResourceDefinitions(), plural+".apps.kruise.io",
			func(_ watch.EventType, d *apiextensionsv1.CustomResourceDefinition) bool {
				return len(d.Status.StoredVersions) > 0
			})
		must(t, err)
	}
	for { // the API server tells of it a moment later
		list, err := b.Client().Discovery().ServerResourcesForGroupVersion(kruiseV1)
		must(t, err)
		old := false
		for _, r := range list.APIResources {
			old = old || r.Name == "clonesets" || r.Name == "daemonsets" || r.Name == "sidecarsets"
		}
		if !old {
			return
		}
	}
}

// TestDefectVersion_IsTheOneServed: the older plugin knew one version of each kind. Ours reads and
// writes the one that the server has.
func TestDefectVersion_IsTheOneServed(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, kruise.API(), onlyOld()) // which no other test shares
	b := &bed{c, c.Namespace(t)}
	b.served(t)
	b.Apply(t, b.namespace, workload(kruiseOld, "CloneSet", "web", "")+`
apiVersion: apps.kruise.io/v1alpha1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: main, image: "registry.example.com/agent:1", ports: [{containerPort: 80}]}]}}
---
`)
	for _, object := range []string{"cloneset/web", "ads/agent"} {
		b.call(t, "get", object).ends(t, 0, "DESIRED")
		b.call(t, "describe", object).ends(t, 0, "API Version:")
		b.call(t, "set", "image", object, "main=registry.example.com/web:2").ends(t, 0, " image updated\n")
		b.call(t, "set", "env", object, "A=b").ends(t, 0, " env updated\n")
		b.call(t, "rollout", "pause", object).ends(t, 0, " paused\n")
		b.call(t, "rollout", "resume", object).ends(t, 0, " resumed\n")
		b.call(t, "rollout", "status", object, "--watch=false").ends(t, 0)
		b.call(t, "expose", object, "--port", "80", "--dry-run=server").ends(t, 0, "exposed (server dry run)")
	}
	for kind, name := range map[string]string{"CloneSet": "web", "DaemonSet": "agent"} {
		u := b.get(t, kruiseOld, kind, name)
		if got := at(u, "spec.template.spec.containers.0.image") + at(u, "spec.template.spec.containers.0.env.0.value"); got != "registry.example.com/web:2b" {
			t.Errorf("%s: %s", kind, got)
		}
	}
	b.call(t, "protect", "cloneset/web").prints(t, "cloneset.apps.kruise.io/web protected")
	b.call(t, "scale", "cloneset/web", "--replicas=1").prints(t, "cloneset.apps.kruise.io/web scaled")
	b.call(t, "create", "sidecarset", b.namespace, "-l", "app=none", "--container", "a=a:1", "--dry-run=server").
		prints(t, "sidecarset.apps.kruise.io/"+b.namespace+" created (server dry run)")
	b.call(t, "get", "all").ends(t, 0, "clonesets.apps.kruise.io:", "daemonsets.apps.kruise.io:")
}
