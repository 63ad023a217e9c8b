package controller

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// SidecarSource is a SidecarSet as admission knows it.
type SidecarSource struct {
	Workload *cluster.Workload
	// Revisions are its stored ones; injectionStrategy.revision may name one.
	Revisions []cluster.Revision
}

// Surroundings are what decides, besides the pod itself, how it is admitted.
type Surroundings struct {
	SidecarSets []SidecarSource
	Budgets     []*kruise.PodUnavailableBudget
	// Namespaces are the labels of each namespace.
	Namespaces map[string]map[string]string
	// EveryPodReady is the feature gate KruisePodReadinessGate: every pod gets
	// the gate KruisePodReady, not only those of Kruise's workloads.
	EveryPodReady bool
}

// Admission is what Kruise's webhook does to pods that are created: sidecars,
// readiness gate, launch priority, the name of the budget
// (docs/kruise/sidecarset.md#which-pods-match, docs/kruise/sidecarset.md#injection,
// docs/kruise/protection.md#container-launch-priority and
// docs/kruise/protection.md#podunavailablebudget; workloads 5). It is recreated whenever its
// surroundings change.
type Admission struct {
	sets    []*inject.Set
	notes   map[string]inject.Note
	budgets []budgetFor
	Surroundings
}

// NewAdmission compiles the SidecarSets. It fails on one that no webhook would
// have let in.
func NewAdmission(s Surroundings) (*Admission, error) {
	a := &Admission{notes: map[string]inject.Note{}, Surroundings: s}
	for _, source := range s.SidecarSets {
		set, err := inject.Compile(sidecarSetNode(source.Workload), storedRevisions(source))
		if err != nil {
			return nil, err
		}
		a.sets = append(a.sets, set)
		a.notes[set.Name] = noteOf(source.Workload)
	}
	inject.Order(a.sets)
	for _, b := range s.Budgets {
		a.budgets = append(a.budgets, budgetFor{b, covering(b)})
	}
	return a, nil
}

// sidecarSetNode is the set in its newest version, as far as injection reads it.
func sidecarSetNode(w *cluster.Workload) *tree.Node {
	return tree.Map(
		"metadata", tree.Map("name", w.Name, "annotations", tree.FromValue(values(w.Annotations))),
		"spec", sidecarSetSpec(w),
	)
}

func sidecarSetSpec(w *cluster.Workload) *tree.Node { return tree.FromValue(w.Template) }

func values(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

func storedRevisions(s SidecarSource) []*inject.Revision {
	out := make([]*inject.Revision, 0, len(s.Revisions))
	for _, r := range s.Revisions {
		version, _ := r.Template[customVersion].(string)
		labels := map[string]any{kruise.SidecarSetNameLabel: s.Workload.Name, kruise.SidecarSetCustomVersionLabel: version}
		out = append(out, inject.ReadRevision(tree.Map(
			"metadata", tree.Map("name", r.Name, "labels", tree.FromValue(labels)),
			"revision", tree.Int64(r.Number),
			"data", tree.Map("spec", tree.FromValue(r.Template)),
		)))
	}
	return out
}

// noteOf is what a pod is told of the set's present spec.
func noteOf(w *cluster.Workload) inject.Note {
	note := inject.Note{
		Hash:             w.Annotations[kruise.SidecarSetHashAnnotation],
		HashWithoutImage: w.Annotations[kruise.SidecarSetHashWithoutImageAnnotation],
	}
	if set, ok := w.Object.(*kruise.SidecarSet); ok {
		note.Revision = set.Status.LatestRevision
	}
	return note
}

// Newcomer is a pod that is about to be created.
type Newcomer struct {
	Namespace, Name string
	Labels          map[string]string
	Annotations     map[string]string
	// Owner is the workload that the pod ends up with: the Deployment, not its
	// ReplicaSet. It is empty for a pod of its own.
	Owner cluster.Ref
}

// Admit returns the pod, a mapping with metadata and spec, as the webhook leaves
// it; what did not change is shared with what came in. The error is a reason to
// refuse the pod.
func (a *Admission) Admit(pod *tree.Node, n Newcomer, now time.Time) (*tree.Node, error) {
	contents, err := a.choose(n)
	if err != nil {
		return nil, err
	}
	out, err := a.build(pod, n, contents)
	if err != nil {
		return nil, err
	}
	record, err := a.record(n.Annotations, contents, now)
	if err != nil {
		return nil, err
	}
	if budget := a.budgetOf(n); budget != "" {
		record[kruise.RelatedBudgetAnnotation], record[kruise.RelatedBudgetOlderAnnotation] = budget, budget
	}
	return annotated(out, record), nil
}

// choose returns what is injected.
func (a *Admission) choose(n Newcomer) ([]*inject.Content, error) {
	if len(a.sets) == 0 {
		return nil, nil
	}
	labels, known := a.Namespaces[n.Namespace]
	choices, err := inject.Choose(a.sets, &inject.Target{
		Labels: n.Labels, NamespaceLabels: labels, NamespaceKnown: known, Key: n.Namespace + "/" + n.Name,
	})
	return inject.Contents(choices), err
}

// build makes what does not depend on the time: containers, gates, barriers.
func (a *Admission) build(pod *tree.Node, n Newcomer, contents []*inject.Content) (*tree.Node, error) {
	done, err := inject.Inject(pod, contents, inject.Options{})
	if err != nil {
		return nil, err
	}
	out := done.Pod
	if a.EveryPodReady || n.Owner.Group == kruise.Group {
		out = gated(out, kruise.KruisePodReady)
	}
	priorities, err := inject.LaunchPriorities(out)
	if err != nil || priorities == nil {
		return out, err
	}
	return barred(out, n.Name, priorities), nil
}

// record are the annotations that name what was injected, and when.
func (a *Admission) record(annotations map[string]string, contents []*inject.Content, now time.Time) (map[string]string, error) {
	if len(contents) == 0 {
		return map[string]string{}, nil
	}
	notes := make([]inject.Note, 0, len(contents))
	for _, c := range contents {
		note := a.notes[c.Set]
		if note.Content = c; c.Revision != "" {
			note.Revision = c.Revision
		}
		if c.Revision != "" || note.Hash == "" {
			var err error
			if note.Hash, note.HashWithoutImage, err = c.Hashes(); err != nil {
				return nil, err
			}
		}
		notes = append(notes, note)
	}
	return inject.Bookkeeping(annotations, notes, now)
}

// within returns a copy of the pod whose mapping at a path may be changed.
func within(pod *tree.Node, field string) (out, inner *tree.Node) {
	out, inner = tree.Shallow(pod), tree.Shallow(tree.Get(pod, field))
	if inner == nil {
		inner = tree.Map()
	}
	tree.Set(out, field, inner)
	return out, inner
}

func gated(pod *tree.Node, gate string) *tree.Node {
	gates := tree.Items(tree.Get(pod, "spec", "readinessGates"))
	if slices.ContainsFunc(gates, func(g *tree.Node) bool { return tree.StrAt(g, "conditionType") == gate }) {
		return pod
	}
	out, spec := within(pod, "spec")
	tree.Set(spec, "readinessGates", tree.Seq(append(slices.Clone(gates), tree.Map("conditionType", gate))...))
	return out
}

// barred gives each container the barrier of its launch priority.
func barred(pod *tree.Node, name string, priorities []int) *tree.Node {
	out, spec := within(pod, "spec")
	var containers []*tree.Node
	for i, c := range tree.Items(tree.Get(pod, "spec", "containers")) {
		c = tree.Shallow(c)
		ref := tree.Map("name", name+"-barrier", "key", "p_"+strconv.Itoa(priorities[i]))
		barrier := tree.Map("name", kruise.ContainerBarrierEnv, "valueFrom", tree.Map("configMapKeyRef", ref))
		tree.Set(c, "env", tree.Seq(append(slices.Clone(tree.Items(tree.Get(c, "env"))), barrier)...))
		containers = append(containers, c)
	}
	tree.Set(spec, "containers", tree.Seq(containers...))
	return out
}

func annotated(pod *tree.Node, add map[string]string) *tree.Node {
	if len(add) == 0 {
		return pod
	}
	out, metadata := within(pod, "metadata")
	_, annotations := within(metadata, "annotations")
	tree.Set(metadata, "annotations", annotations)
	for _, key := range slices.Sorted(maps.Keys(add)) {
		tree.Set(annotations, key, tree.String(add[key]))
	}
	return out
}
