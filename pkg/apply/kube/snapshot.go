package kube

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// assemble puts together what the mirrors show, with the record among it. A workload
// that is gone makes a snapshot without it.
func (c *Cluster) assemble() (plan.Snapshot, plan.Record, error) {
	s := plan.Snapshot{Gates: c.opt.Gates, GatesUnread: c.opt.GatesUnread}
	// The version comes first: what changes meanwhile is a change since then.
	s.Version, _ = c.bell.now()
	present, err := c.present()
	if err != nil {
		return s, plan.Record{}, err
	}
	s.Workload = present.workload
	if c.opt.Carrier != nil {
		s.Workload, s.Carrier = present.source, present.workload
	}
	rec, err := c.record.now()
	s.Progress, s.Base = rec.Progress, rec.Base
	if err != nil || present.workload == nil {
		return s, rec, err
	}
	fill := []func(*plan.Snapshot, *cluster.Workload) error{c.fillRevisions, c.fillPods, c.fillNodes, c.fillNamespaces, c.fillBudgets}
	for _, f := range fill {
		if err := f(&s, present.workload); err != nil {
			return s, rec, err
		}
	}
	return s, rec, c.fillAnswers(&s, rec)
}

// fillRevisions adds the templates that belong to the workload.
func (c *Cluster) fillRevisions(s *plan.Snapshot, w *cluster.Workload) error {
	from := c.revisions
	if w.Kind == kruise.KindDeployment {
		from = c.children
	}
	if from == nil {
		return nil
	}
	list, err := from.all()
	for _, r := range list {
		if w.Kind == kruise.KindSidecarSet || r.owner == w.UID {
			s.Revisions = append(s.Revisions, r.value)
		}
	}
	return err
}

// fillPods adds the pods that the workload owns, or may be in.
func (c *Cluster) fillPods(s *plan.Snapshot, w *cluster.Workload) error {
	list, err := c.pods.all()
	if err != nil {
		return err
	}
	owners, err := c.owners(w)
	if err != nil {
		return err
	}
	s.Pods, s.Reports = make([]*cluster.Pod, 0, len(list)), map[string]rules.NodeReport{}
	for _, p := range list {
		if w.Kind != kruise.KindSidecarSet && !owners[p.Owner.UID] && p.UID != w.UID {
			continue
		}
		s.Pods = append(s.Pods, p.Pod)
		if p.report != settled {
			s.Reports[p.UID] = p.report
		}
	}
	return nil
}

// settled is the report of a node that has nothing pending, which stands for pods
// without one.
var settled = rules.NodeReport{EnvHashes: true, Resources: true}

// owners are the uids of the controllers of the workload's pods.
func (c *Cluster) owners(w *cluster.Workload) (map[string]bool, error) {
	owners := map[string]bool{w.UID: true}
	if c.children == nil {
		return owners, nil
	}
	list, err := c.children.all()
	for _, r := range list {
		if r.owner == w.UID {
			owners[r.uid] = true
		}
	}
	return owners, err
}

func (c *Cluster) fillNodes(s *plan.Snapshot, _ *cluster.Workload) error {
	if c.nodes == nil {
		return nil
	}
	list, err := c.nodes.all()
	s.Nodes = make(map[string]*cluster.Node, len(list))
	for _, n := range list {
		s.Nodes[n.Name] = n
	}
	return err
}

func (c *Cluster) fillNamespaces(s *plan.Snapshot, _ *cluster.Workload) error {
	if c.namespaces == nil {
		return nil
	}
	list, err := c.namespaces.all()
	s.Namespaces = make(map[string]map[string]string, len(list))
	for _, n := range list {
		s.Namespaces[n.Name] = n.Labels
	}
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

// selectorOf writes a workload's selector as a query has it.
func selectorOf(w *cluster.Workload) (string, error) {
	selector, err := metav1.LabelSelectorAsSelector(plan.SelectorOf(w))
	if err != nil {
		return "", err
	}
	return selector.String(), nil
}
