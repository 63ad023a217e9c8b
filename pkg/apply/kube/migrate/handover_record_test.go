package migrate

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamic "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

// TestHandover_DeletesTheRecordThatItSaw: a handover at its end leaves a record alone that another
// process has written since, and one whose new DaemonSet was created by others under its name: it holds
// the only copy of a DaemonSet that is between two kinds.
func TestHandover_DeletesTheRecordThatItSaw(t *testing.T) {
	for name, c := range map[string]struct {
		uid, version, app, writer string
		gone                      bool
		want                      string
	}{
		"the record that was seen":      {"1", "5", "agent", manager, true, ""},
		"turned back since":             {"1", "6", "agent", manager, false, "changed"},
		"recorded again since":          {"2", "5", "agent", manager, false, "changed"},
		"a stranger of its name":        {"1", "5", "other", manager, false, "does not select its pods"},
		"a stranger that selects alike": {"1", "5", "agent", "helm", false, "created by others"},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"}, schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1beta1", Resource: "daemonsets"}
			selecting := func(app string) *unstructured.Unstructured {
				return &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "apps.kruise.io/v1beta1", "kind": "DaemonSet", "metadata": map[string]any{"name": "agent", "namespace": "shop", "managedFields": []any{map[string]any{"manager": c.writer, "operation": "Update"}}},
					"spec": map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": app}}},
				}}
			}
			h := &Handover{
				New:    selecting("agent"),
				Record: migrate.Handover{From: migrate.Workload{Group: "apps", Kind: "DaemonSet", Name: "agent"}, To: migrate.Workload{Group: "apps.kruise.io", Kind: "DaemonSet", Name: "agent"}, UID: "old"},
				from:   from, to: to,
			}
			text, err := json.Marshal(h.Record)
			if err != nil {
				t.Fatal(err)
			}
			made, err := json.Marshal(h.New)
			if err != nil {
				t.Fatal(err)
			}
			kept := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap",
				"metadata": map[string]any{"name": HandoverName("agent"), "namespace": "shop", "uid": "1", "resourceVersion": "5"},
				"data":     map[string]any{keyRecord: string(text), keyOld: "null", keyNew: string(made), keyGuards: "null"},
			}}
			client := dynamic.NewSimpleDynamicClient(runtime.NewScheme(), kept.DeepCopy())
			client.PrependReactor("delete", "configmaps", func(a clienttesting.Action) (bool, runtime.Object, error) { // as a server does, and the fake does not
				as := a.(clienttesting.DeleteActionImpl).DeleteOptions.Preconditions
				if as != nil && (as.UID != nil && string(*as.UID) != c.uid || as.ResourceVersion != nil && *as.ResourceVersion != c.version) {
					return true, nil, apierrors.NewConflict(configMaps.GroupResource(), kept.GetName(), errors.New("changed"))
				}
				return false, nil, nil
			})
			h.client = &Client{namespace: "shop", dynamic: client}
			w := h.client.watched()
			for gvr, o := range map[schema.GroupVersionResource]*unstructured.Unstructured{configMaps: kept, from: nil, to: selecting(c.app)} {
				store := cache.NewStore(cache.MetaNamespaceKeyFunc)
				if o != nil {
					if err := store.Add(o); err != nil {
						t.Fatal(err)
					}
				}
				w.stores[gvr.String()] = store
			}
			_, err = h.step(t.Context(), w)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			_, err = h.client.resource(configMaps).Get(t.Context(), kept.GetName(), metav1.GetOptions{})
			if apierrors.IsNotFound(err) != c.gone {
				t.Errorf("the record: %v", err)
			}
		})
	}
}
