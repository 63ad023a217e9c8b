package kube

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// views are the mirrors of everything that a snapshot shows. Those that a workload
// has no need of stay nil.
type views struct {
	workloads  *mirror[seen]
	pods       *mirror[pod]
	revisions  *mirror[owned[cluster.Revision]]
	children   *mirror[owned[cluster.Revision]]
	nodes      *mirror[*cluster.Node]
	namespaces *mirror[*corev1.Namespace]
	// disruptions and budgets are those of Kubernetes and of Kruise.
	disruptions *mirror[*policyv1.PodDisruptionBudget]
	budgets     *mirror[*kruise.PodUnavailableBudget]
}

// seen is the workload, and the Kruise workload that it stands for, if it does.
type seen struct{ workload, source *cluster.Workload }

// pod is a pod with what its node says of it beyond what rules read.
type pod struct {
	*cluster.Pod
	report rules.NodeReport
	// version is its resourceVersion, secrets are names of its pull secrets.
	version string
	secrets []string
	signals
}

// owned is something that a controller owns.
type owned[T any] struct {
	uid, owner string
	value      T
}

// look begins to watch.
func (c *Cluster) look() error {
	if err := c.watchWorkload(); err != nil {
		return err
	}
	w, err := c.present()
	if err != nil {
		return err
	}
	if w.workload == nil {
		return fmt.Errorf("%s: %w", c.object().Ref, plan.ErrNotFound)
	}
	selector, err := selectorOf(w.workload)
	if err != nil {
		return err
	}
	for _, begin := range []func(*cluster.Workload, string) error{
		c.watchPods, c.watchRevisions, c.watchChildren, c.watchNodes, c.watchNamespaces, c.watchBudgets,
	} {
		if err := begin(w.workload, selector); err != nil {
			return err
		}
	}
	if err := c.record.follow(); err != nil {
		return err
	}
	return c.resume()
}

// present is the workload as it is now.
func (c *Cluster) present() (seen, error) {
	list, err := c.workloads.all()
	if err != nil {
		return seen{}, err
	}
	if len(list) == 0 {
		return seen{}, nil
	}
	return list[0], nil
}

func (c *Cluster) watchWorkload() error {
	o := c.object()
	c.workloads = newMirror(c.bell.ring, func(m metav1.Object) (seen, error) {
		u, ok := m.(*unstructured.Unstructured)
		if !ok {
			return seen{}, fmt.Errorf("unexpected %T", m)
		}
		if c.alone() {
			w, err := lone(u)
			return seen{workload: w}, err
		}
		n := tree.FromValue(u.Object)
		w, err := cluster.ReadWorkload(n)
		if err != nil || c.opt.Carrier == nil {
			return seen{workload: w}, err
		}
		s, err := cluster.ReadSource(n, c.opt.Target.Kind, c.opt.Target.Name)
		return seen{w, s}, err
	})
	s := c.untyped(o.Resource, o.Namespace)
	s.what, s.fields, s.needed = o.String(), fields.OneTermEqualSelector("metadata.name", o.Name).String(), true
	return follow(c.ctx, s, c.workloads)
}

// untyped is a source of objects of any kind.
func (c *Cluster) untyped(r schema.GroupVersionResource, namespace string) source {
	client := c.dynamic.Resource(r).Namespace(namespace)
	return source{
		what: r.Resource, like: &unstructured.Unstructured{}, shared: c.opt.Shared, key: r.String() + " in " + namespace,
		list:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) },
		watch: client.Watch,
	}
}

// lister is what typed clients have in common.
type lister[L runtime.Object] interface {
	List(ctx context.Context, o metav1.ListOptions) (L, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

// typed is a source of objects of a type.
func typed[L runtime.Object](what string, like runtime.Object, client lister[L], selector string) source {
	return source{
		what: what, like: like, selector: selector, watch: client.Watch,
		list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) },
	}
}

// keep begins a mirror of objects of one type.
func keep[O metav1.Object, T any](c *Cluster, s source, read func(O) (T, error)) (*mirror[T], error) {
	m := newMirror(c.bell.ring, readAs(read))
	s.shared = c.opt.Shared
	err := follow(c.ctx, s, m)
	switch {
	case err == nil:
		return m, nil
	case s.needed, c.ctx.Err() != nil:
		return nil, err
	case !errors.Is(err, errNotServed):
		c.warn("%v: the rollout continues without", err)
	}
	return nil, nil //nolint:nilnil // done without
}

// readAs reads objects of one type, as all of a source are.
func readAs[O metav1.Object, T any](read func(O) (T, error)) func(metav1.Object) (T, error) {
	return func(o metav1.Object) (T, error) {
		typed, ok := o.(O)
		if !ok {
			var zero T
			return zero, fmt.Errorf("unexpected %T", o)
		}
		return read(typed)
	}
}

// watchPods watches those that the workload's selector matches; a SidecarSet's are
// in all namespaces.
func (c *Cluster) watchPods(w *cluster.Workload, selector string) (err error) {
	s := typed("pods", &corev1.Pod{}, c.core.CoreV1().Pods(w.Namespace), selector).in(w.Namespace)
	if s.needed = true; c.alone() {
		s.selector, s.fields = "", fields.OneTermEqualSelector("metadata.name", w.Name).String()
	}
	c.pods, err = keep(c, s, func(p *corev1.Pod) (pod, error) {
		read := cluster.ReadPod(p)
		read.Digest()
		report := rules.NodeReport{EnvHashes: true, Resources: resized(p)}
		return pod{Pod: read, report: report, version: p.ResourceVersion, secrets: pullSecrets(p), signals: signalsOf(p)}, nil
	})
	return err
}

// watchRevisions watches the stored templates; a Deployment has ReplicaSets instead,
// and a ReplicaSet, or a pod, has none.
func (c *Cluster) watchRevisions(w *cluster.Workload, selector string) (err error) {
	if w.Kind == kruise.KindDeployment || w.Kind == kruise.KindReplicaSet || c.alone() {
		return nil
	}
	namespace := w.Namespace
	if w.Kind == kruise.KindSidecarSet {
		namespace, selector = kruise.DefaultNamespace, kruise.SidecarSetNameLabel+"="+w.Name
	}
	s := typed("stored revisions", &appsv1.ControllerRevision{}, c.core.AppsV1().ControllerRevisions(namespace), selector).in(namespace)
	c.revisions, err = keep(c, s, func(r *appsv1.ControllerRevision) (owned[cluster.Revision], error) {
		revision, err := cluster.ReadRevision(r)
		return owned[cluster.Revision]{string(r.UID), ownerOf(r), revision}, err
	})
	return err
}

// watchChildren watches the ReplicaSets of a Deployment, which own its pods.
func (c *Cluster) watchChildren(w *cluster.Workload, selector string) (err error) {
	if w.Kind != kruise.KindDeployment {
		return nil
	}
	s := typed("ReplicaSets", &appsv1.ReplicaSet{}, c.core.AppsV1().ReplicaSets(w.Namespace), selector).in(w.Namespace)
	s.needed = true
	c.children, err = keep(c, s, func(r *appsv1.ReplicaSet) (owned[cluster.Revision], error) {
		revision, err := cluster.ReadReplicaSet(r)
		return owned[cluster.Revision]{string(r.UID), ownerOf(r), revision}, err
	})
	return err
}

// watchNodes watches nodes where a rule looks at them.
func (c *Cluster) watchNodes(w *cluster.Workload, _ string) (err error) {
	if !w.LooksAtNodes() {
		return nil
	}
	s := typed("nodes", &corev1.Node{}, c.core.CoreV1().Nodes(), "").in("")
	s.needed = w.Kind == kruise.KindDaemonSet
	c.nodes, err = keep(c, s, func(n *corev1.Node) (*cluster.Node, error) { return cluster.ReadNode(n), nil })
	return err
}

// watchNamespaces watches labels that SidecarSets select by.
func (c *Cluster) watchNamespaces(w *cluster.Workload, _ string) (err error) {
	if w.Kind != kruise.KindSidecarSet {
		return nil
	}
	s := typed("namespaces", &corev1.Namespace{}, c.core.CoreV1().Namespaces(), "").in("")
	c.namespaces, err = keep(c, s, func(n *corev1.Namespace) (*corev1.Namespace, error) { return n, nil })
	return err
}

func ownerOf(o metav1.Object) string {
	if ref := metav1.GetControllerOfNoCopy(o); ref != nil {
		return string(ref.UID)
	}
	return ""
}
