package check_test

import "testing"

// TestSidecarSetVolumesAsStored: what Kubernetes fills in is no other content.
func TestSidecarSetVolumesAsStored(t *testing.T) {
	set := func(name, volume string) string {
		return "---\n{apiVersion: apps.kruise.io/v1beta1, kind: SidecarSet, metadata: {name: " + name + "}, spec: {selector: {matchLabels: {app: web}}, " +
			"volumes: [{name: v, " + volume + "}], containers: [{name: " + name + ", image: x}]}}\n"
	}
	for _, tt := range []struct {
		written, stored string
		same            bool
	}{
		{"hostPath: {path: /x}", "hostPath: {path: /x, type: ''}", true},
		{"configMap: {name: c}", "configMap: {name: c, defaultMode: 420}", true},
		{"secret: {secretName: c}", "secret: {defaultMode: 420, secretName: c}", true},
		{"downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}", "downwardAPI: {defaultMode: 420, items: [{path: p, fieldRef: {apiVersion: v1, fieldPath: metadata.name}}]}", true},
		{"projected: {sources: [{serviceAccountToken: {path: t}}, {downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}}]}", "projected: {defaultMode: 420, sources: [{serviceAccountToken: {path: t, expirationSeconds: 3600}}, {downwardAPI: {items: [{path: p, fieldRef: {apiVersion: v1, fieldPath: metadata.name}}]}}]}", true},
		{"emptyDir: {sizeLimit: 1Gi}", "emptyDir: {sizeLimit: 1024Mi}", true},
		{"configMap: {name: c}", "configMap: {name: c, defaultMode: 384}", false},
		{"configMap: {name: c}", "configMap: {name: d}", false},
		{"newInKubernetes: {a: 1}", "newInKubernetes: {a: 2}", false},
		{"newInKubernetes: {a: 1}", "newInKubernetes: {a: 1}", true},
	} {
		t.Run(tt.stored, func(t *testing.T) {
			if _, err := checkedSets(t, set("a", tt.written), set("b", tt.stored), true); (err == nil) != tt.same {
				t.Errorf("%s: %v, want no conflict: %v", tt.written, err, tt.same)
			}
		})
	}
}
