package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// TestPlaces: Kruise's records are enough where Kruise is; elsewhere pods and what
// was rendered before tell.
func TestPlaces(t *testing.T) {
	const (
		state     = "{apiVersion: apps.kruise.io/v1beta1, kind: PersistentPodState, metadata: {name: db, namespace: shop}, spec: {}}"
		annotated = `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: far, annotations: {kruise.io/auto-generate-persistent-pod-state: "true", kruise.io/required-persistent-topology: zone}}, spec: {}}`
		plain     = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: shop}, spec: {}}"
	)
	kruise := map[string]string{"apps.kruise.io": "v1beta1"}
	for name, c := range map[string]struct {
		object string
		served map[string]string
		want   []string
	}{
		"with Kruise":                 {state, kruise, []string{"persistentpodstates shop"}},
		"annotations, with Kruise":    {annotated, kruise, []string{"persistentpodstates far"}},
		"without Kruise":              {state, nil, []string{"configmaps shop kubectl-kruise.dev/source", "pods shop statefulset.kubernetes.io/pod-name"}},
		"annotations, without Kruise": {annotated, nil, []string{"nodes ", "configmaps far kubectl-kruise.dev/source", "pods far statefulset.kubernetes.io/pod-name"}},
		"nothing of the kind":         {plain, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := &asker{stream: []*resource.Resource{parse(t, c.object)}, served: c.served}
			a.places()
			var got []string
			for _, w := range a.list {
				q := w.resource + " " + w.namespace
				if w.selector != "" {
					q += " " + w.selector
				}
				got = append(got, q)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPlacesChoose(t *testing.T) {
	ours := object(t, "{metadata: {labels: {kubectl-kruise.dev/source: persistentpodstate.db}}}")
	others := object(t, "{metadata: {labels: {kubectl-kruise.dev/source: sidecarset.mesh}}, spec: {}}")
	if !ofPodStates(ours) || ofPodStates(others) || ofPodStates(object(t, "{metadata: {}}")) {
		t.Error("ConfigMaps are chosen wrongly")
	}
	if !runs(object(t, "{spec: {nodeName: n}}")) || runs(others) || runs(ours) {
		t.Error("pods are chosen wrongly")
	}
	got := podStates.prune(object(t, "{metadata: {name: db}, spec: {targetRef: {name: db}, persistentPodAnnotations: [{key: a}]}, status: {podStates: {db-0: {nodeTopologyLabels: {a: b}, annotations: {c: d}}}}}"))
	if diff := cmp.Diff(object(t, "{metadata: {name: db}, spec: {targetRef: {name: db}}, status: {podStates: {db-0: {nodeTopologyLabels: {a: b}}}}}"), got); diff != "" {
		t.Error(diff)
	}
}
