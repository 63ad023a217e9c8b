package kruise_test

import (
	"reflect"
	"slices"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// FuzzConvert: whatever an object holds, conversion and decoding do not panic
// and leave the object as it was, and what was converted once is stable: up,
// down and up again is up.
func FuzzConvert(f *testing.F) {
	var texts []string
	for _, c := range conformance.List(f, "conversion") {
		data, err := c.Read("input.yaml")
		if err != nil {
			f.Fatal(err)
		}
		texts = append(texts, string(data))
	}
	distort.Fuzz(f, texts, func(t *testing.T, text string) {
		t.Helper()
		var doc tree.Node
		if yaml.Unmarshal([]byte(text), &doc) != nil {
			return
		}
		if _, err := tree.Expand(&doc, 0, tree.Limits{Nodes: 5000, Depth: 100}); err != nil {
			return
		}
		n := tree.Root(&doc)
		before := tree.Clone(n)
		into := objects[tree.StrAt(n, "kind")]
		if into == nil {
			return
		}
		obj := reflect.New(reflect.TypeOf(into)).Interface()
		_, err := kruise.Decode(n, obj)
		if err == nil {
			kruise.Default(obj)
		}
		stable(t, n, err == nil)
		if !tree.Equal(before, n) {
			t.Fatal("the object read was changed")
		}
	})
}

// stable converts an object there and back; one that decodes is the same then, but for what is reported.
func stable(t *testing.T, n *tree.Node, decodes bool) {
	t.Helper()
	up, _, err := kruise.ToHub(n)
	if err != nil {
		return
	}
	down, lost, err := kruise.FromHub(up, kruise.V1alpha1)
	if err != nil {
		return
	}
	again, _, err := kruise.ToHub(down)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := kruise.FromHub(again, kruise.V1alpha1); err != nil {
		t.Fatal(err)
	}
	if decodes && len(lost) == 0 && !slices.Contains([]string{"CloneSet", "UnitedDeployment"}, tree.StrAt(n, "kind")) && len(tree.Items(tree.Get(up, "status", "conditions"))) == 0 && !tree.Equal(bare(up), bare(again)) {
		t.Fatalf("nothing is reported as lost, yet\n%v\nbecame\n%v", tree.Value(up), tree.Value(again))
	}
}

// bare is the object without metadata, where annotations may remain, and
// without empty values.
func bare(n *tree.Node) *tree.Node {
	n = tree.Clone(n)
	tree.Delete(n, "metadata")
	return tree.FromValue(meaning(n))
}

func BenchmarkDecode(b *testing.B) {
	n := parse(b, `
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web, namespace: shop, labels: {app: web, tier: front}}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  updateStrategy: {type: InPlaceIfPossible, partition: 20%, maxUnavailable: 1}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: registry.example.com/web:1
        env: [{name: A, value: b}, {name: C, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
        resources: {limits: {cpu: 500m, memory: 1Gi}, requests: {cpu: 100m, memory: 128Mi}}
        ports: [{containerPort: 8080}]
        readinessProbe: {httpGet: {path: /, port: 8080}}
      volumes: [{name: tmp, emptyDir: {}}]
`)
	b.ReportAllocs()
	for b.Loop() {
		var set kruise.CloneSet
		if _, err := kruise.Decode(n, &set); err != nil {
			b.Fatal(err)
		}
	}
}
