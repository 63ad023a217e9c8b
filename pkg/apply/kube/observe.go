package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// observer watches a workload and what belongs to it, and shows them in snapshots.
// Mirrors that the workload does not need stay nil.
type observer struct {
	*connection
	workloads  *mirror[observedWorkload]
	pods       *mirror[observedPod]
	revisions  *mirror[ownedBy[cluster.Revision]]
	children   *mirror[ownedBy[cluster.Revision]]
	nodes      *mirror[*cluster.Node]
	namespaces *mirror[*corev1.Namespace]
	// disruptions and budgets are those of Kubernetes and of Kruise.
	disruptions *mirror[*policyv1.PodDisruptionBudget]
	budgets     *mirror[*kruise.PodUnavailableBudget]
}

// observedWorkload is the workload, and the Kruise workload that it was rendered from, if any.
type observedWorkload struct{ workload, source *cluster.Workload }

// observedPod is a pod with more than rules read of it.
type observedPod struct {
	*cluster.Pod
	report rules.NodeReport
	// version is its resourceVersion, secrets are names of its pull secrets.
	version string
	secrets []string
	signalFacts
}

// ownedBy is something that a controller owns.
type ownedBy[T any] struct {
	uid, owner string
	value      T
}

// start begins to watch.
func (o *observer) start() error {
	if err := o.watchWorkload(); err != nil {
		return err
	}
	w, err := o.current()
	if err != nil {
		return err
	}
	if w.workload == nil {
		return fmt.Errorf("%s: %w", o.changedObject().Ref, plan.ErrNotFound)
	}
	around, err := surroundingsOf(w.workload)
	if err != nil {
		return err
	}
	watch := func(q *objectQuery, begin func(*objectQuery) error) {
		if q != nil && err == nil {
			err = begin(q)
		}
	}
	watch(around.Pods, o.watchPods)
	watch(around.Revisions, o.watchRevisions)
	watch(around.ReplicaSets, o.watchChildren)
	watch(around.Nodes, o.watchNodes)
	watch(around.Namespaces, o.watchNamespaces)
	watch(around.Disruptions, o.watchDisruptions)
	watch(around.Budgets, o.watchBudgets)
	return err
}

// current is the workload as it is now.
func (o *observer) current() (observedWorkload, error) {
	list, err := o.workloads.list()
	if err != nil {
		return observedWorkload{}, err
	}
	if len(list) == 0 {
		return observedWorkload{}, nil
	}
	return list[0], nil
}

func (o *observer) watchWorkload() error {
	t := o.changedObject()
	o.workloads = newMirror(o.changes, func(m metav1.Object) (observedWorkload, error) {
		u, ok := m.(*unstructured.Unstructured)
		if !ok {
			return observedWorkload{}, fmt.Errorf("unexpected %T", m)
		}
		if o.opt.Target.Kind == kindPod {
			w, err := readStandalonePod(u)
			return observedWorkload{workload: w}, err
		}
		n := tree.FromValue(u.Object)
		w, err := cluster.ReadWorkload(n)
		if err != nil || o.opt.Carrier == nil {
			return observedWorkload{workload: w}, err
		}
		s, err := cluster.ReadSource(n, o.opt.Target.Kind, o.opt.Target.Name)
		return observedWorkload{w, s}, err
	})
	s := o.untypedSource(t.Resource, t.Namespace)
	s.description, s.fields, s.required = t.String(), fields.OneTermEqualSelector("metadata.name", t.Name).String(), true
	return follow(o.ctx, s, o.workloads)
}

// readStandalonePod reads such a pod as a set of one, with a template that never changes.
func readStandalonePod(u *unstructured.Unstructured) (*cluster.Workload, error) {
	var p corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &p); err != nil {
		return nil, err
	}
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: p.UID, DeletionTimestamp: p.DeletionTimestamp},
		Spec:       appsv1.ReplicaSetSpec{Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: p.Labels}},
	}
	return &cluster.Workload{
		Ref:     cluster.Ref{Kind: kindPod, Namespace: p.Namespace, Name: p.Name},
		Version: "v1", UID: string(p.UID), Labels: p.Labels, Annotations: p.Annotations, Object: set, Template: map[string]any{},
	}, nil
}

// watchPods watches the pods, with what their nodes report of them.
func (o *observer) watchPods(q *objectQuery) (err error) {
	s := sourceOf(q, &corev1.Pod{}, o.core.CoreV1().Pods(q.Namespace))
	o.pods, err = followMirror(o.connection, s, func(p *corev1.Pod) (observedPod, error) {
		read := cluster.ReadPod(p)
		read.Digest()
		report := rules.NodeReport{EnvHashes: true, Resources: resized(p)}
		return observedPod{Pod: read, report: report, version: p.ResourceVersion, secrets: pullSecretNames(p), signalFacts: signalFactsOf(p)}, nil
	})
	return err
}

// resized reports whether the status has the resources of the spec.
func resized(p *corev1.Pod) bool {
	for i := range p.Spec.Containers {
		j := slices.IndexFunc(p.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == p.Spec.Containers[i].Name })
		if j < 0 || p.Status.ContainerStatuses[j].Resources == nil {
			continue
		}
		if !equality.Semantic.DeepEqual(*p.Status.ContainerStatuses[j].Resources, p.Spec.Containers[i].Resources) {
			return false
		}
	}
	return true
}

// watchRevisions watches the stored templates.
func (o *observer) watchRevisions(q *objectQuery) (err error) {
	s := sourceOf(q, &appsv1.ControllerRevision{}, o.core.AppsV1().ControllerRevisions(q.Namespace))
	o.revisions, err = followMirror(o.connection, s, func(r *appsv1.ControllerRevision) (ownedBy[cluster.Revision], error) {
		revision, err := cluster.ReadRevision(r)
		return ownedBy[cluster.Revision]{string(r.UID), ownerOf(r), revision}, err
	})
	return err
}

// watchChildren watches the ReplicaSets of a Deployment, which own its pods.
func (o *observer) watchChildren(q *objectQuery) (err error) {
	s := sourceOf(q, &appsv1.ReplicaSet{}, o.core.AppsV1().ReplicaSets(q.Namespace))
	o.children, err = followMirror(o.connection, s, func(r *appsv1.ReplicaSet) (ownedBy[cluster.Revision], error) {
		revision, err := cluster.ReadReplicaSet(r)
		return ownedBy[cluster.Revision]{string(r.UID), ownerOf(r), revision}, err
	})
	return err
}

// watchNodes watches nodes where a rule looks at them.
func (o *observer) watchNodes(q *objectQuery) (err error) {
	s := sourceOf(q, &corev1.Node{}, o.core.CoreV1().Nodes())
	o.nodes, err = followMirror(o.connection, s, func(n *corev1.Node) (*cluster.Node, error) { return cluster.ReadNode(n), nil })
	return err
}

// watchNamespaces watches labels that SidecarSets select by.
func (o *observer) watchNamespaces(q *objectQuery) (err error) {
	s := sourceOf(q, &corev1.Namespace{}, o.core.CoreV1().Namespaces())
	o.namespaces, err = followMirror(o.connection, s, unchanged[*corev1.Namespace])
	return err
}

// watchDisruptions watches the PodDisruptionBudgets: no webhook asks them about what this
// client does to pods and containers, except for evictions.
func (o *observer) watchDisruptions(q *objectQuery) (err error) {
	s := sourceOf(q, &policyv1.PodDisruptionBudget{}, o.core.PolicyV1().PodDisruptionBudgets(q.Namespace))
	o.disruptions, err = followMirror(o.connection, s, unchanged[*policyv1.PodDisruptionBudget])
	return err
}

// watchBudgets watches the PodUnavailableBudgets, for the same reason.
func (o *observer) watchBudgets(q *objectQuery) error {
	m, err := newLazyKruiseMirror[kruise.PodUnavailableBudget](o.connection, q.Resource.Group, q.Resource.Resource, q.Namespace, q.Selector).start()
	switch {
	case err == nil:
		o.budgets = m
	case o.ctx.Err() != nil:
		return err
	case !errors.Is(err, errNotServed):
		o.warn("%v: the rollout continues without", err)
	}
	return nil
}

// beginSnapshot begins a snapshot with the workload as it is now; w is the object in the
// cluster, nil once that is gone.
func (o *observer) beginSnapshot() (s plan.Snapshot, w *cluster.Workload, err error) {
	s.Gates, s.GatesUnread = o.opt.Gates, o.opt.GatesUnread
	// The version comes first: what changes meanwhile is a change since then.
	s.Version, _ = o.changes.current()
	present, err := o.current()
	s.Workload = present.workload
	if o.opt.Carrier != nil {
		s.Workload, s.Carrier = present.source, present.workload
	}
	return s, present.workload, err
}

// templates is a snapshot with the workload and its revisions alone.
func (o *observer) templates() (plan.Snapshot, error) {
	s, w, err := o.beginSnapshot()
	if err != nil || w == nil {
		return s, err
	}
	return s, o.fillRevisions(&s, w)
}

// fill adds to a snapshot what belongs to the workload.
func (o *observer) fill(s *plan.Snapshot, w *cluster.Workload) error {
	for _, f := range []func(*plan.Snapshot, *cluster.Workload) error{o.fillRevisions, o.fillPods, o.fillNodes, o.fillNamespaces, o.fillBudgets} {
		if err := f(s, w); err != nil {
			return err
		}
	}
	return nil
}

// fillRevisions adds the templates that belong to the workload.
func (o *observer) fillRevisions(s *plan.Snapshot, w *cluster.Workload) error {
	from := o.revisions
	if w.Kind == kruise.KindDeployment {
		from = o.children
	}
	if from == nil {
		return nil
	}
	list, err := from.list()
	for _, r := range list {
		if w.Kind == kruise.KindSidecarSet || r.owner == w.UID {
			s.Revisions = append(s.Revisions, r.value)
		}
	}
	return err
}

// fillPods adds the pods that the workload owns, or may be in.
func (o *observer) fillPods(s *plan.Snapshot, w *cluster.Workload) error {
	list, err := o.pods.list()
	if err != nil {
		return err
	}
	owners, err := o.owners(w)
	if err != nil {
		return err
	}
	s.Pods, s.Reports = make([]*cluster.Pod, 0, len(list)), map[string]rules.NodeReport{}
	for _, p := range list {
		if w.Kind != kruise.KindSidecarSet && !owners[p.Owner.UID] && p.UID != w.UID {
			continue
		}
		s.Pods = append(s.Pods, p.Pod)
		if p.report != nothingPending {
			s.Reports[p.UID] = p.report
		}
	}
	return nil
}

// nothingPending is the report of a node that has nothing pending, which stands for pods
// without one.
var nothingPending = rules.NodeReport{EnvHashes: true, Resources: true}

// owners are the uids of the controllers of the workload's pods.
func (o *observer) owners(w *cluster.Workload) (map[string]bool, error) {
	owners := map[string]bool{w.UID: true}
	if o.children == nil {
		return owners, nil
	}
	list, err := o.children.list()
	for _, r := range list {
		if r.owner == w.UID {
			owners[r.uid] = true
		}
	}
	return owners, err
}

// ownPods are the pods of the workload that are not being deleted.
func (o *observer) ownPods(w *cluster.Workload) ([]observedPod, error) {
	list, err := o.pods.list()
	if err != nil {
		return nil, err
	}
	owners, err := o.owners(w)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(list), func(p observedPod) bool {
		return !rules.Active(p.Pod) || w.Kind != kruise.KindSidecarSet && !owners[p.Owner.UID]
	}), nil
}

// nodesOfPods are the nodes that the workload's pods are on, by name.
func (o *observer) nodesOfPods(w *cluster.Workload) ([]string, error) {
	pods, err := o.ownPods(w)
	names := map[string]bool{}
	for _, p := range pods {
		if p.Node != "" {
			names[p.Node] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), err
}

func (o *observer) fillNodes(s *plan.Snapshot, _ *cluster.Workload) error {
	if o.nodes == nil {
		return nil
	}
	list, err := o.nodes.list()
	s.Nodes = make(map[string]*cluster.Node, len(list))
	for _, n := range list {
		s.Nodes[n.Name] = n
	}
	return err
}

func (o *observer) fillNamespaces(s *plan.Snapshot, _ *cluster.Workload) error {
	if o.namespaces == nil {
		return nil
	}
	list, err := o.namespaces.list()
	s.Namespaces = make(map[string]map[string]string, len(list))
	for _, n := range list {
		s.Namespaces[n.Name] = n.Labels
	}
	return err
}

// fillBudgets adds the budgets that cover pods of the workload.
func (o *observer) fillBudgets(s *plan.Snapshot, w *cluster.Workload) error {
	owners, err := o.owners(w)
	if err != nil {
		return err
	}
	g := &controller.Guards{Now: o.Now(), Pods: s.Pods, Reports: s.Reports, Workloads: controller.OwnedBy(w, owners)}
	if o.disruptions != nil {
		if g.Disruption, err = o.disruptions.list(); err != nil {
			return err
		}
	}
	if o.budgets != nil {
		if g.Unavailable, err = o.budgets.list(); err != nil {
			return err
		}
	}
	s.Budgets, s.Disruptions, err = g.Rules()
	return err
}

// ownerReferences are those of what is deleted with the workload; none where that is gone.
func (o *observer) ownerReferences() []metav1.OwnerReference {
	present, err := o.current()
	if err != nil || present.workload == nil {
		return nil
	}
	return []metav1.OwnerReference{o.ownerReference(present.workload)}
}

// reread reads the workload again.
func (o *observer) reread(ctx context.Context) error {
	t := o.changedObject()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	got, err := o.dynamic.Resource(t.Resource).Namespace(t.Namespace).Get(ctx, t.Name, metav1.GetOptions{})
	return putAnswer(o.workloads, t.Namespace, t.Name, got, err)
}

// writtenPod is a pod of the workload that was written.
type writtenPod struct {
	*observer
	pod *plan.PodRef
}

func (p writtenPod) reread(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	got, err := p.core.CoreV1().Pods(p.pod.Namespace).Get(ctx, p.pod.Name, metav1.GetOptions{})
	return putAnswer(p.pods, p.pod.Namespace, p.pod.Name, got, err)
}

// reread reads again what decisions rest on, since another process may have written what
// the watches do not show yet.
func (c *Cluster) reread(ctx context.Context, all bool) error {
	if err := errors.Join(c.record.reread(ctx), c.observer.reread(ctx)); err != nil {
		return err
	}
	if !all {
		return nil
	}
	return c.observer.pods.reread(ctx)
}

// events begins to watch the events about a workload and what belongs to it.
func (o *observer) events() (now func(names map[string]bool) []*corev1.Event, err error) {
	t := o.changedObject()
	s := typedSource("events", &corev1.Event{}, o.core.CoreV1().Events(t.Namespace), "")
	if t.Namespace == "" {
		s.fields = fields.Set{"involvedObject.kind": t.Kind, "involvedObject.name": t.Name}.String()
	}
	m, err := followMirror(o.connection, s, unchanged[*corev1.Event])
	return func(names map[string]bool) []*corev1.Event {
		var out []*corev1.Event
		for _, e := range listOf(m) {
			if names[e.InvolvedObject.Name] {
				out = append(out, e)
			}
		}
		return out
	}, err
}
