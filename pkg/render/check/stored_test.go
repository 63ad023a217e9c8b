package check_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// typed is a new object of the resource's type, nil for one that is not Kruise's.
func typed(r *resource.Resource) any {
	for _, k := range kruise.Kinds() {
		if k.Group == r.Group() && k.Kind == r.Kind() {
			return reflect.New(k.Type).Interface()
		}
	}
	return nil
}

// stored compares our defaults with the object as the cluster stored it.
func stored(t *testing.T, c conformance.Case) error {
	t.Helper()
	ours := golden.Parse(t, text(t, c, "object.yaml"))[0]
	theirs := golden.Parse(t, text(t, c, "stored.yaml"))[0]
	if typed(ours) == nil {
		return nil
	}
	return conformance.Different("what is stored", conformance.Diff(bare(plain(t, theirs.Node())), bare(plain(t, filled(t, c, ours)))))
}

// filled is the object with its defaults, in the version that it came in.
func filled(t *testing.T, c conformance.Case, r *resource.Resource) *tree.Node {
	t.Helper()
	obj := typed(r)
	if unknown, err := kruise.Decode(r.Node(), obj); err != nil || len(unknown) > 0 {
		t.Fatal(unknown, err)
	}
	kruise.DefaultStored(obj)
	if request, ok := obj.(*kruise.ContainerRecreateRequest); ok {
		kruise.DefaultRecreate(request, runningPod(t, c, request.Spec.PodName))
	}
	n, _, err := kruise.FromHub(tree.FromValue(obj), r.Version())
	if err != nil {
		t.Fatal(err)
	}
	if r.Kind() == "SidecarSet" {
		hashed(t, n)
	}
	return n
}

// runningPod is the pod of the case as the cluster ran it, with the recorded
// placeholders.
func runningPod(t *testing.T, c conformance.Case, name string) *corev1.Pod {
	t.Helper()
	var pod corev1.Pod
	for _, r := range golden.Parse(t, text(t, c, "setup.yaml")) {
		if r.Kind() != "Pod" || r.Name() != name {
			continue
		}
		if _, err := tree.Decode(r.Node(), &pod); err != nil {
			t.Fatal(err)
		}
	}
	pod.UID, pod.Spec.NodeName = "<pod uid>", "<node>"
	if pod.Spec.TerminationGracePeriodSeconds == nil {
		pod.Spec.TerminationGracePeriodSeconds = new(int64(corev1.DefaultTerminationGracePeriodSeconds))
	}
	for _, known := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: known.Name, ContainerID: "<container id>"})
	}
	return &pod
}

// hashed writes the hashes of a SidecarSet as its webhook does.
func hashed(t *testing.T, n *tree.Node) {
	t.Helper()
	full, withoutImage, err := inject.Hashes(tree.Get(n, "spec"))
	if err != nil {
		t.Fatal(err)
	}
	tree.SetAt(n, tree.String(full), "metadata", "annotations", kruise.SidecarSetHashAnnotation)
	tree.SetAt(n, tree.String(withoutImage), "metadata", "annotations", kruise.SidecarSetHashWithoutImageAnnotation)
}

// plain is the object as values of JSON, without its status.
func plain(t *testing.T, n *tree.Node) any {
	t.Helper()
	data, err := json.Marshal(tree.Value(n))
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	delete(v, "status")
	if meta, ok := v["metadata"].(map[string]any); ok {
		delete(meta, "finalizers") // the controllers' own
	}
	return v
}

func bare(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			if item = bare(item); item == nil || item == false {
				delete(v, key)
			} else {
				v[key] = item
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = bare(v[i])
		}
	}
	return v
}

// TestStoredElsewhere: objects of the conversion cases that are recorded as
// sent and as stored.
func TestStoredElsewhere(t *testing.T) {
	compared := 0
	all := map[string]conformance.Case{}
	for _, c := range conformance.List(t, "conversion") {
		all[c.Name] = c
	}
	for name, c := range all {
		recorded, ok := all[name+"-stored"]
		if !ok || strings.Contains(name, "-crr-") {
			continue
		}
		ours := golden.Parse(t, text(t, c, "input.yaml"))[0]
		theirs := golden.Parse(t, text(t, recorded, "input.yaml"))[0]
		if diff := conformance.Diff(bare(plain(t, theirs.Node())), bare(plain(t, filled(t, c, ours)))); diff != "" {
			t.Errorf("%s -recorded +ours\n%s", name, diff)
		}
		compared++
	}
	if conformance.Recorded() && compared < 20 {
		t.Errorf("only %d are recorded both ways", compared)
	}
}
