package state

import (
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/gates"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Invention says what to make up around a workload that no cluster runs. The same
// always gives the same pods, names included.
type Invention struct {
	// Pods is how many there shall be; 0 is what the workload asks for.
	Pods int
	// Nodes is how many nodes; 0 is one for ten pods, and at least three.
	Nodes int
	Gates gates.Set
}

// longEnough is for how long the model cluster may take to bring pods up.
const longEnough = 24 * time.Hour

// Invent returns what would be known of a workload if it ran, healthy, with all
// its pods, in a cluster with the other objects of the same input. The uid that
// the model gave to the workload is taken away again: nobody may pin a plan to
// it.
func Invent(target *resource.Resource, others []*resource.Resource, o Invention) (plan.Snapshot, error) {
	read, err := cluster.ReadWorkload(target.Node())
	if err != nil {
		return plan.Snapshot{}, target.Wrap(err, "")
	}
	pods, err := o.pods(target, read)
	if err != nil {
		return plan.Snapshot{}, err
	}
	if err := bounded(target, pods); err != nil {
		return plan.Snapshot{}, err
	}
	w := o.cluster(read, pods)
	if err := apply(w, read, target, others, pods); err != nil {
		return plan.Snapshot{}, err
	}
	if settled, err := w.Settle(longEnough); err != nil || !settled {
		return plan.Snapshot{}, target.Fault("spec", "check replicas, nodeSelector and budgets", "its pods would not even come up in an empty cluster: %v", err)
	}
	s, err := w.Snapshot(read.Ref)
	if err != nil {
		return s, target.Wrap(err, "")
	}
	bare := *s.Workload
	bare.UID = ""
	s.Workload = &bare
	return s, healthy(target, s.Pods)
}

// cluster is an empty model cluster with nodes that suit the workload.
func (o Invention) cluster(read *cluster.Workload, pods int) *simulate.World {
	options := simulate.Usual()
	options.Gates, options.ReadinessGate = o.Gates.Gates, o.Gates.ReadinessGate
	w := simulate.New(options)
	nodes := o.Nodes
	switch {
	case read.Kind == kruise.KindDaemonSet:
		nodes = pods
	case nodes == 0:
		nodes = max(min(pods, 3), (pods+9)/10)
	}
	for i := range nodes {
		w.AddNode(fmt.Sprintf("node-%d", i+1), nodeLabels(read.Template))
	}
	return w
}

// healthy refuses a workload whose pods nothing would ever make ready.
func healthy(target *resource.Resource, pods []*cluster.Pod) error {
	for _, p := range pods {
		if !rules.Ready(p) {
			return target.Fault("spec.template", "check for readiness gates that no controller sets, and for a nodeSelector or affinity that no node matches",
				"pod %s would not become ready in a healthy cluster", p.Name)
		}
	}
	return nil
}

// pods is how many pods the workload shall have.
func (o Invention) pods(target *resource.Resource, read *cluster.Workload) (int, error) {
	if o.Pods > 0 {
		return o.Pods, nil
	}
	if _, counted := cluster.Of(read.Object).Replicas(); !counted {
		return defaultPods, nil
	}
	n, ok := tree.Int(tree.Get(target.Node(), "spec", "replicas"))
	switch {
	case !ok:
		return 1, nil
	case n == 0:
		return 0, target.Fault("spec.replicas", "--pods N plans for N pods", "a workload without pods has no rollout")
	}
	return int(n), nil
}

// defaultPods is how many pods there are of what has no replicas.
const defaultPods = 5

// apply writes the objects into the model cluster: the workload last, so that
// budgets and sidecars are there before its pods are.
func apply(w *simulate.World, read *cluster.Workload, target *resource.Resource, others []*resource.Resource, pods int) error {
	set, sidecars := read.Object.(*kruise.SidecarSet)
	if sidecars {
		if err := w.Apply(target.Node()); err != nil {
			return target.Wrap(err, "")
		}
	}
	running := 0
	for _, r := range others {
		carries := sidecars && r.Kind() != kruise.KindSidecarSet && cluster.IsWorkload(r.Group(), r.Kind())
		if r == target || !carries && !surrounds(r) {
			continue
		}
		if carries {
			running++
			n, _ := tree.Int(tree.Get(r.Node(), "spec", "replicas"))
			if err := bounded(r, int(n)); err != nil {
				return err
			}
		}
		if err := w.Apply(r.Node()); err != nil {
			return r.Wrap(err, "")
		}
	}
	node := tree.Clone(target.Node())
	switch {
	case sidecars && running > 0:
		return nil
	case sidecars:
		return w.Apply(carriers(set, pods)...)
	case read.Kind != kruise.KindDaemonSet:
		tree.SetAt(node, tree.Int64(int64(pods)), "spec", "replicas")
	}
	return target.Wrap(w.Apply(node), "")
}

// bounded refuses more pods than a model holds.
func bounded(r *resource.Resource, pods int) error {
	if pods <= simulate.MostPods {
		return nil
	}
	return r.Fault("spec.replicas", "--pods N plans for N pods", "%d pods are more than the %d that a model of a cluster holds", pods, simulate.MostPods)
}

// surrounds reports whether an object matters to the rollout of another.
func surrounds(r *resource.Resource) bool {
	return r.Is("", "Namespace") || r.Is("policy", "PodDisruptionBudget") || r.Is(kruise.PolicyGroup, kruise.KindPodUnavailableBudget) || r.Is(kruise.Group, kruise.KindSidecarSet)
}

func nodeLabels(template map[string]any) map[string]string {
	spec, _ := template["spec"].(map[string]any)
	selector, _ := spec["nodeSelector"].(map[string]any)
	out := map[string]string{}
	for k, v := range selector {
		out[k] = fmt.Sprint(v)
	}
	return out
}
