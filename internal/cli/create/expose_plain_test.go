package create

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

const pods = "{metadata: {labels: {app: web}}, spec: {containers: [{name: a, ports: [{containerPort: 80}]}]}}"

func TestExpose_MakesPlainWorkloads(t *testing.T) {
	const want = "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, template: " + pods + "}}"
	const same = ""
	for name, c := range map[string]struct{ object, want string }{
		"CloneSet":              {"{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, metadata: {name: web, uid: u}, spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: " + pods + "}}", want},
		"of the older version":  {"{apiVersion: apps.kruise.io/v1alpha1, kind: DaemonSet, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, template: " + pods + "}}", want},
		"native StatefulSet":    {"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, template: " + pods + "}}", want},
		"one value":             {"{apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, metadata: {name: web}, spec: {selector: {matchExpressions: [{key: app, operator: In, values: [web]}]}, template: " + pods + "}}", want},
		"UnitedDeployment":      {"{apiVersion: apps.kruise.io/v1beta1, kind: UnitedDeployment, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, template: {cloneSetTemplate: {spec: {template: " + pods + "}}}}}", want},
		"BroadcastJob":          {"{apiVersion: apps.kruise.io/v1beta1, kind: BroadcastJob, metadata: {name: web}, spec: {template: " + pods + "}}", want},
		"SidecarSet":            {"{apiVersion: apps.kruise.io/v1beta1, kind: SidecarSet, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, containers: [{name: a, image: x, ports: [{containerPort: 80}]}]}}", "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {}, spec: {containers: [{name: a, ports: [{containerPort: 80}]}]}}}}"},
		"several values remain": {"{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, metadata: {name: web}, spec: {selector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [c]}, {key: d, operator: Exists}]}, template: " + pods + "}}", "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web}, spec: {selector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [c]}, {key: d, operator: Exists}]}, template: " + pods + "}}"},
		"Deployment":            {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: " + pods + "}}", same},
		"no pods":               {"{apiVersion: apps.kruise.io/v1beta1, kind: ImagePullJob, metadata: {name: web}, spec: {image: x}}", same},
		"broken":                {"{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, spec: 7}", same},
	} {
		t.Run(name, func(t *testing.T) {
			want := c.want
			if want == same {
				want = c.object
			}
			var got map[string]any
			text, err := yaml.Marshal(plainObject(parsed(t, c.object)))
			if err == nil {
				got = parsed(t, string(text))
			}
			if diff := cmp.Diff(parsed(t, want), got); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

// TestExpose_DropsLabelsOfTheWorkload: a Service is neither protected because its workload is, nor rendered
// from what that was.
func TestExpose_DropsLabelsOfTheWorkload(t *testing.T) {
	for labels, want := range map[string]string{
		"{app: web, policy.kruise.io/delete-protection: Always, kubectl-kruise.dev/source: cloneset.web}": "{app: web}",
		"{app: web}": "{app: web}",
		"7":          "7",
	} {
		got := withoutOwnLabels(parsed(t, "metadata: {name: web, labels: "+labels+"}"))
		text, err := yaml.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(parsed(t, "metadata: {name: web, labels: "+want+"}"), parsed(t, string(text))); diff != "" {
			t.Errorf("%s\n%s", labels, diff)
		}
	}
}
