package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Population describes what to make up around a workload that no cluster runs. The same
// always gives the same pods, names included.
type Population struct {
	// Pods is the desired number of pods; 0 means the number that the workload asks for.
	Pods int
	// Nodes is how many nodes; 0 is one for ten pods, and at least three.
	Nodes         int
	Gates         cluster.Gates
	ReadinessGate bool
}

// OtherError is an error of one of the other objects.
type OtherError struct {
	// Index is its place among them.
	Index int
	Err   error
}

func (e *OtherError) Error() string { return e.Err.Error() }

// Unwrap returns the error.
func (e *OtherError) Unwrap() error { return e.Err }

// settleLimit is for how long the model cluster may take to bring pods up.
const settleLimit = 24 * time.Hour

// Populate returns what would be known of a workload if it ran, healthy, with all
// its pods, in a cluster with the other objects of the same input. The uid that
// the model gave to the workload is taken away again: no plan may be pinned to
// it. The error is a [tree.Error] of the workload, or an [OtherError].
func Populate(target *tree.Node, others []*tree.Node, o Population) (plan.Snapshot, error) {
	read, err := cluster.ReadWorkload(target)
	if err != nil {
		return plan.Snapshot{}, err
	}
	pods, err := o.pods(target, read)
	if err != nil {
		return plan.Snapshot{}, err
	}
	if err := checkPodLimit(target, pods); err != nil {
		return plan.Snapshot{}, err
	}
	// An empty model cluster with nodes that suit the workload.
	options := DefaultOptions()
	options.Gates, options.ReadinessGate = o.Gates, o.ReadinessGate
	w := New(options)
	nodes := o.Nodes
	switch {
	case read.Kind == kruise.KindDaemonSet:
		nodes = pods
	case nodes == 0:
		nodes = max(min(pods, 3), (pods+9)/10)
	}
	for i := range nodes {
		w.AddNode(fmt.Sprintf("node-%d", i+1), assumedNodeLabels(read.Template))
	}
	if err := w.populate(read, target, others, pods); err != nil {
		return plan.Snapshot{}, err
	}
	if settled, err := w.Settle(settleLimit); err != nil || !settled {
		return plan.Snapshot{}, tree.Errorf(target, "spec", "check replicas, nodeSelector and budgets", "its pods would not even come up in an empty cluster: %v", err)
	}
	s, err := w.Snapshot(read.Ref)
	if err != nil {
		return s, err
	}
	bare := *s.Workload
	bare.UID = ""
	s.Workload = &bare
	return s, checkHealthy(target, s.Pods)
}

// checkHealthy refuses a workload whose pods nothing would ever make ready.
func checkHealthy(target *tree.Node, pods []*cluster.Pod) error {
	for _, p := range pods {
		if !rules.Ready(p) {
			return tree.Errorf(target, "spec.template", "check for readiness gates that no controller sets, and for a nodeSelector or affinity that no node matches",
				"pod %s would not become ready in a healthy cluster", p.Name)
		}
	}
	return nil
}

// pods is the number of pods that the workload should have.
func (o Population) pods(target *tree.Node, read *cluster.Workload) (int, error) {
	if o.Pods > 0 {
		return o.Pods, nil
	}
	if _, counted := cluster.Of(read.Object).Replicas(); !counted {
		return assumedPods, nil
	}
	n, ok := tree.Int(tree.Get(target, "spec", "replicas"))
	switch {
	case !ok:
		return 1, nil
	case n == 0:
		return 0, tree.Errorf(target, "spec.replicas", "--pods N plans for N pods", "a workload without pods has no rollout")
	}
	return int(n), nil
}

// assumedPods is how many pods there are of what has no replicas.
const assumedPods = 5

// populate writes the objects into the model cluster: the workload last, so that
// budgets and sidecars are there before its pods are.
func (w *World) populate(read *cluster.Workload, target *tree.Node, others []*tree.Node, pods int) error {
	set, sidecars := read.Object.(*kruise.SidecarSet)
	if sidecars {
		if err := w.Apply(target); err != nil {
			return err
		}
	}
	running := 0
	for i, other := range others {
		ref := refOf(other)
		carries := sidecars && ref.Kind != kruise.KindSidecarSet && cluster.IsWorkload(ref.Group, ref.Kind)
		if other == target || !carries && !IsSurrounding(ref) {
			continue
		}
		if carries {
			running++
			n, _ := tree.Int(tree.Get(other, "spec", "replicas"))
			if err := checkPodLimit(other, int(n)); err != nil {
				return &OtherError{i, err}
			}
		}
		if err := w.Apply(other); err != nil {
			return &OtherError{i, err}
		}
	}
	node := tree.Clone(target)
	switch {
	case sidecars && running > 0:
		return nil
	case sidecars:
		// A namespace and a workload with so many pods for a SidecarSet whose input has no workload: labels are what its
		// selectors ask for.
		const name = "app"
		namespace := labelsFor(set.Spec.NamespaceSelector)
		in := cmp.Or(namespace[kruise.NamespaceNameLabel], "default")
		namespace[kruise.NamespaceNameLabel] = in
		labels := labelsFor(set.Spec.Selector)
		return w.Apply([]*tree.Node{
			tree.FromValue(map[string]any{
				"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": in, "labels": anyMap(namespace)},
			}),
			tree.FromValue(map[string]any{
				"apiVersion": kruise.Group + "/" + kruise.V1beta1, "kind": kruise.KindCloneSet,
				"metadata": map[string]any{"name": name, "namespace": in},
				"spec": map[string]any{
					"replicas": pods, "selector": map[string]any{"matchLabels": anyMap(labels)},
					"template": map[string]any{
						"metadata": map[string]any{"labels": anyMap(labels)},
						"spec":     map[string]any{"containers": []any{map[string]any{"name": name, "image": "app:1"}}},
					},
				},
			}),
		}...)
	case read.Kind != kruise.KindDaemonSet:
		tree.SetAt(node, tree.Int64(int64(pods)), "spec", "replicas")
	}
	return w.Apply(node)
}

// checkPodLimit refuses more pods than a model holds.
func checkPodLimit(object *tree.Node, pods int) error {
	if pods <= MostPods {
		return nil
	}
	return tree.Errorf(object, "spec.replicas", "--pods N plans for N pods", "%d pods are more than the %d that a model of a cluster holds", pods, MostPods)
}

// IsSurrounding reports whether an object matters to the rollout of another.
func IsSurrounding(ref cluster.Ref) bool {
	switch {
	case ref.Group == "" && ref.Kind == "Namespace", ref.Group == "policy" && ref.Kind == "PodDisruptionBudget":
		return true
	case ref.Group == kruise.PolicyGroup && ref.Kind == kruise.KindPodUnavailableBudget:
		return true
	}
	return ref.Group == kruise.Group && ref.Kind == kruise.KindSidecarSet
}

func assumedNodeLabels(template map[string]any) map[string]string {
	spec, _ := template["spec"].(map[string]any)
	selector, _ := spec["nodeSelector"].(map[string]any)
	out := map[string]string{}
	for k, v := range selector {
		out[k] = fmt.Sprint(v)
	}
	return out
}

// labelsFor returns labels that a selector matches, as far as it asks for any.
func labelsFor(s *metav1.LabelSelector) map[string]string {
	out := map[string]string{}
	if s == nil {
		return out
	}
	maps.Copy(out, s.MatchLabels)
	for _, e := range s.MatchExpressions {
		switch {
		case e.Operator == metav1.LabelSelectorOpIn && len(e.Values) > 0:
			out[e.Key] = e.Values[0]
		case e.Operator == metav1.LabelSelectorOpExists:
			out[e.Key] = "true"
		}
	}
	return out
}

func anyMap(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}
