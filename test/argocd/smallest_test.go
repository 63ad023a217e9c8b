package argocd

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestScripts_TakeTheSmallestObjects: the health and the actions of every kind also work on
// objects that lack what may be left out, as they are before a controller has seen them, or
// where defaults were not written.
func TestScripts_TakeTheSmallestObjects(t *testing.T) {
	ran := 0
	for key, scripts := range customizations(t) {
		group, kind, found := strings.Cut(key, "/")
		if !found {
			t.Fatalf("key %s is not GROUP/KIND", key)
		}
		for _, version := range []string{"v1alpha1", "v1beta1"} {
			for name, fields := range map[string]map[string]any{
				"no spec":          {},
				"empty spec":       {"spec": map[string]any{}},
				"empty status":     {"spec": map[string]any{}, "status": map[string]any{}},
				"generation alone": {"spec": map[string]any{}, "status": map[string]any{"observedGeneration": int64(1)}},
				"numbers alone": {"spec": map[string]any{"replicas": int64(1)}, "status": map[string]any{
					"observedGeneration": int64(1), "replicas": int64(1), "readyReplicas": int64(1), "updatedReplicas": int64(1),
				}},
				"empty parts": {"spec": map[string]any{"updateStrategy": map[string]any{}, "template": map[string]any{}, "completionPolicy": map[string]any{}}, "status": map[string]any{"conditions": []any{}}},
			} {
				t.Run(key+" "+version+" "+name, func(t *testing.T) {
					o := &unstructured.Unstructured{Object: map[string]any{
						"apiVersion": group + "/" + version, "kind": kind,
						"metadata": map[string]any{"name": "small", "namespace": "demo", "generation": int64(1)},
					}}
					for field, value := range fields {
						o.Object[field] = value
					}
					if scripts.HealthLua != "" {
						ours(t, o)
						ran++
					}
					if scripts.Actions == "" {
						return
					}
					for _, action := range offered(t, o) {
						run(t, action, o.DeepCopy())
						ran++
					}
				})
			}
		}
	}
	if ran < 150 {
		t.Errorf("only %d scripts ran", ran)
	}
}
