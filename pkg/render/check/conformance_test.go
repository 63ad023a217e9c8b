package check_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// verdict is what the real cluster answered.
type verdict struct {
	Operation check.Operation `yaml:"operation"`
	Allowed   bool            `yaml:"allowed"`
	By        string          `yaml:"by"`
	Message   string          `yaml:"message"`
	Fields    []string        `yaml:"fields"`
}

// TestConformanceLint asks the check what the real webhooks and schemas were
// asked: what they took must pass and be stored alike, what they refused must
// not, and where both sides name fields they must name a common one.
func TestConformanceLint(t *testing.T) {
	conformance.Area(t, "lint", func(t *testing.T, c conformance.Case) error {
		t.Helper()
		var want verdict
		if err := yaml.Unmarshal([]byte(text(t, c, "verdict.yaml")), &want); err != nil {
			return err
		}
		faults := judged(t, c, want.Operation)
		switch {
		case want.Allowed && len(faults) > 0:
			return fmt.Errorf("refused: %w", all(faults))
		case !want.Allowed && len(faults) == 0:
			return fmt.Errorf("accepted, but Kruise says: %s", want.Message)
		case !want.Allowed && !namesOne(faults, want):
			return fmt.Errorf("none of the fields %q is named: %w", want.Fields, all(faults))
		case c.Has("stored.yaml"):
			return stored(t, c)
		}
		return nil
	})
}

// judged asks for the case's operation. What cannot even be read is refused as
// what cannot be decoded.
func judged(t *testing.T, c conformance.Case, operation check.Operation) []check.Fault {
	t.Helper()
	in, err := load.Parse("object.yaml", []byte(text(t, c, "object.yaml")))
	if err != nil {
		return []check.Fault{{Rule: check.UnknownField, Error: &resource.Error{File: "object.yaml", Err: err}}}
	}
	around := []*resource.Resource{configuration()}
	q := check.Request{Operation: operation, Object: in[0], Known: true}
	if c.Has("before.yaml") {
		q.Old = golden.Parse(t, text(t, c, "before.yaml"))[0]
		around = append(around, q.Old)
	}
	if c.Has("setup.yaml") {
		around = append(around, golden.Parse(t, text(t, c, "setup.yaml"))...)
	}
	waited := readWaited(t, c)
	for _, r := range around {
		waited.settle(r)
	}
	if operation == check.Delete {
		waited.settle(q.Object)
	}
	faults := check.Object(newContext(in, around), q)
	return slices.DeleteFunc(faults, func(f check.Fault) bool { return f.Accepted })
}

// configuration is the ConfigMap that was there when the verdicts were recorded.
func configuration() *resource.Resource {
	return resource.Parsed(tree.FromValue(conformance.Configuration()), nil, resource.Origin{})
}

// waited is what the recording waited for before the request.
type waited struct {
	Pods    int  `yaml:"waitPods"`
	Claim   bool `yaml:"waitPVC"`
	Seconds int  `yaml:"wait"`
}

func readWaited(t *testing.T, c conformance.Case) (w waited) {
	t.Helper()
	if !c.Has("case.yaml") {
		return w
	}
	if err := yaml.Unmarshal([]byte(text(t, c, "case.yaml")), &w); err != nil {
		t.Fatal(err)
	}
	return w
}

// settle gives an object of the cluster the phase that it had by then. Pods that the recording did
// not wait for have not started yet.
func (w waited) settle(r *resource.Resource) {
	phase := func(name string) { tree.SetAt(r.Edit(), tree.String(name), "status", "phase") }
	switch {
	case r.Kind() == "Pod" && w.Pods == 0 && w.Seconds == 0:
		phase("Pending")
	case r.Kind() == "PersistentVolumeClaim" && !w.Claim:
		phase("Pending")
	case r.Kind() == "PersistentVolumeClaim":
		phase("Bound")
	}
}

func text(tb testing.TB, c conformance.Case, file string) string {
	tb.Helper()
	data, err := c.Read(file)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

// vague are webhooks whose messages name fields imprecisely
// (docs/kruise/sidecarset.md#observed-on-a-cluster).
var vague = []string{"vsidecarset", "vpodprobemarker", "vpodunavailablebudget", "vephemeraljobs", "vadvancedcronjob"}

// namesOne reports whether a fault names one of the recorded fields, something
// above or below it, or at least another field of the same part of the spec: the
// server's paths are often imprecise, and ours may be better.
func namesOne(faults []check.Fault, want verdict) bool {
	for _, webhook := range vague {
		if strings.Contains(want.By, webhook) {
			return true
		}
	}
	for _, field := range want.Fields {
		for _, f := range faults {
			if f.Field != "" && (strings.HasPrefix(f.Field, field) || strings.HasPrefix(field, f.Field) || part(f.Field) == part(field)) {
				return true
			}
		}
	}
	return len(want.Fields) == 0
}

// part is a path's first two fields, such as spec.template.
func part(path string) string {
	steps := strings.SplitN(path, ".", 3)
	if len(steps) < 2 {
		return path
	}
	field, _, _ := strings.Cut(steps[1], "[")
	return steps[0] + "." + field
}

func all(faults []check.Fault) error {
	errs := make([]error, len(faults))
	for i, f := range faults {
		errs[i] = fmt.Errorf("%w [%s]", f.Error, f.Rule)
	}
	return errors.Join(errs...)
}

// checked checks a stream beside what is in the cluster.
func checked(t *testing.T, stream, context string) error {
	t.Helper()
	return checkedList(golden.Parse(t, stream), golden.Parse(t, context))
}

func checkedList(in, context []*resource.Resource) error {
	_, err := check.Run(newContext(in, context), in)
	return err
}

func newContext(in, around []*resource.Resource) *stage.Context {
	return stage.New(resource.NewFacts(in, around, ""), stage.Options{Expand: stage.ExpandAll, Kruise: kruise.Next})
}

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

// TestDefaults_EqualStoredObjects: objects of the conversion cases that are recorded as
// sent and as stored.
func TestDefaults_EqualStoredObjects(t *testing.T) {
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
