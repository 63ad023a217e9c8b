package apply_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// The executor runs on the model cluster as it runs on a real one.
var _ apply.Cluster = (*simulate.World)(nil)

const cloneSet = `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 6
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 2}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}]}
`

// replicaSet is what the driver client works on.
const replicaSet = `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}]}
`

// bed is a world with a workload at rest, and a plan for a new image of it.
type bed struct {
	*simulate.World
	ref  cluster.Ref
	plan plan.Plan
	told []event.Event
}

func newBed(t *testing.T, doc string, o simulate.Options, policy plan.Policy) *bed {
	t.Helper()
	w := simulate.New(o)
	for i := range 3 {
		w.AddNode(fmt.Sprint("n", i), nil)
	}
	before := read(t, doc)
	must(t, w.Apply(node(t, doc)))
	if ok, err := w.Settle(time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s, err := w.Snapshot(before.Ref)
	must(t, err)
	p, err := plan.Build(read(t, strings.ReplaceAll(doc, "web:1", "web:2")), s, policy)
	must(t, err)
	return &bed{World: w, ref: before.Ref, plan: p}
}

// run drives the plan over a cluster, which is the world or something in front of
// it.
func (b *bed) run(t *testing.T, ctx context.Context, c apply.Cluster, o apply.Options) apply.Result { //nolint:revive // the test comes first
	t.Helper()
	b.told = nil
	emit := o.Emit
	o.Emit = func(e event.Event) {
		b.told = append(b.told, e)
		if emit != nil {
			emit(e)
		}
	}
	res, err := apply.Run(ctx, c, b.ref, b.plan, o)
	must(t, err)
	b.plan = res.Plan
	return res
}

// images counts the pods that run each image.
func (b *bed) images(t *testing.T) map[string]int {
	t.Helper()
	s, err := b.Snapshot(b.ref)
	must(t, err)
	out := map[string]int{}
	for _, p := range s.Pods {
		if !p.Deleting {
			out[p.Containers[0].Image]++
		}
	}
	return out
}

// types are the types of the events.
func (b *bed) types() string {
	var out []string
	for _, e := range b.told {
		if n := len(out); n == 0 || out[n-1] != string(e.Type) {
			out = append(out, string(e.Type))
		}
	}
	return strings.Join(out, " ")
}

func node(t *testing.T, doc string) *tree.Node {
	t.Helper()
	n, err := yaml.Parse(doc)
	must(t, err)
	return n.YNode()
}

func read(t *testing.T, doc string) *cluster.Workload {
	t.Helper()
	w, err := cluster.ReadWorkload(node(t, doc))
	must(t, err)
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func steps(t *testing.T, text ...string) []plan.PolicyStep {
	t.Helper()
	var out []plan.PolicyStep
	for _, s := range text {
		to, pause, _ := strings.Cut(s, "+")
		a, err := plan.ParseAmount(to)
		must(t, err)
		step := plan.PolicyStep{To: a}
		if pause != "" {
			step.Pause = &plan.Pause{}
		}
		out = append(out, step)
	}
	return out
}
