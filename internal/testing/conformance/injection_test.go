package conformance

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"
)

// recordedSet is a case with a stored revision that is referred to.
var recordedSet = fstest.MapFS{
	"input.yaml": {Data: []byte(`
apiVersion: apps.kruise.io/v1alpha1
kind: SidecarSet
metadata: {name: agent}
---
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: agent}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: inj}
spec: {containers: [{name: web, image: "web:1"}]}
`)},
	"revisions.yaml": {Data: []byte(`
- {sidecarSet: agent, name: agent-1, revision: 1, labels: {kruise.io/sidecarset-name: agent}, data: {spec: {containers: []}}}
`)},
	"expected.yaml": {Data: []byte(`
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: inj, annotations: {kruise.io/sidecarset-hash: '{}', kruise.io/sidecarset-injected-list: agent}}
spec:
  containers:
  - {name: agent, image: "agent:1", resources: {limits: {cpu: 500m}}, ports: [{containerPort: 1, hostPort: 1, protocol: TCP}], livenessProbe: {httpGet: {port: 1, path: /}}}
  - {name: web, image: "web:1", env: [{name: KRUISE_CONTAINER_BARRIER, valueFrom: {configMapKeyRef: {name: web-barrier, key: p_0}}}]}
  volumes:
  - {name: conf, configMap: {name: agent}}
  - {name: ram, emptyDir: {medium: Memory, sizeLimit: 1Gi}}
  readinessGates: [{conditionType: KruisePodReady}]
  hostNetwork: true
`)},
}

// ourPod is what a renderer makes of it, with all that a stored revision holds.
const ourPod = `
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: inj, annotations: {kruise.io/sidecarset-injected-list: agent}}
spec:
  containers:
  - name: agent
    image: agent:1
    imagePullPolicy: IfNotPresent
    terminationMessagePolicy: File
    resources: {limits: {cpu: 0.5}}
    ports: [{containerPort: 1, protocol: TCP}]
    livenessProbe: {httpGet: {port: 1, scheme: HTTP}, timeoutSeconds: 1}
  - {name: web, image: "web:1"}
  volumes:
  - {name: conf, configMap: {name: agent, defaultMode: 420}}
  - {name: ram, emptyDir: {medium: Memory, sizeLimit: 1024Mi}}
  hostNetwork: true
status: {phase: Pending}
`

// TestInjection: an answer equals the recording but for what its README leaves
// out, and nothing else passes.
func TestInjection(t *testing.T) {
	second := maps.Clone(recordedSet)
	second["expected-2.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(string(recordedSet["expected.yaml"].Data), "agent:1", "agent:2", 1))}
	denied := maps.Clone(recordedSet)
	denied["denied.txt"] = &fstest.MapFile{}
	for _, tc := range []struct {
		name     string
		files    fstest.MapFS
		old, new string
		want     string
	}{
		{"as recorded", recordedSet, "", "", ""},
		{"the second legal answer", second, "image: agent:1", "image: agent:2", ""},
		{"another image", recordedSet, "image: agent:1", "image: agent:2", "agent:2"},
		{"another pull policy", recordedSet, "IfNotPresent", "Always", "imagePullPolicy"},
		{"a default is lost", recordedSet, ", protocol: TCP", "", "protocol"},
		{"another mode", recordedSet, "420", "384", "defaultMode"},
		{"another path of a probe", recordedSet, "{port: 1, ", "{port: 1, path: /x, ", "path"},
		{"another amount", recordedSet, "0.5", "0.6", "cpu"},
		{"denied", denied, "", "", "refused"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := Docs([]byte(strings.Replace(ourPod, tc.old, tc.new, 1)))
			if err != nil {
				t.Fatal(err)
			}
			err = Injection(Case{files: tc.files}, func(stream, context []map[string]any) ([]map[string]any, error) {
				if len(stream) != 2 || stream[0]["apiVersion"] != "apps.kruise.io/v1beta1" {
					t.Errorf("the engine got %v", stream)
				}
				if len(context) != 3 {
					t.Errorf("the context is %v, want whitelist, namespace, revision", context)
				}
				return out, nil
			})
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}
