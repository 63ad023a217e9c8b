package rules

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// DaemonSet is an Advanced DaemonSet with all that its rules look at.
type DaemonSet struct {
	Spec *kruise.DaemonSetSpec
	// Update is the update revision, full name or hash.
	Update string
	// TemplateGeneration is the annotation that also marks pods as updated.
	TemplateGeneration string
	// Nodes are all that have or should have one of its pods.
	Nodes []DaemonNode
	// Missing is how many more nodes should have a pod: none is there, so nobody knows
	// which nodes they are. It is a number, since it comes from a status.
	Missing int
	// Scheduled is status.desiredNumberScheduled, the base of the partition.
	Scheduled int
	Now       time.Time
}

// DaemonNode is a node with the DaemonSet's pods on it.
type DaemonNode struct {
	*cluster.Node
	// ShouldRun is whether the DaemonSet wants a pod here.
	ShouldRun bool
	// Stay is whether a node that should not run a pod may keep those it has, as
	// under a taint that only keeps new ones away.
	Stay bool
	Pods []*cluster.Pod
}

// DaemonSetLimits are the numbers that the spec comes to.
type DaemonSetLimits struct {
	Partition, MaxUnavailable, MaxSurge int
	// Burst caps creations, deletions and in-place updates of one pass.
	Burst int
}

// Limits resolves the numbers of the spec. maxUnavailable and maxSurge are of
// the nodes that should run a pod now, rounded up; partition and burstReplicas
// of status.desiredNumberScheduled, rounded down
// (docs/kruise/workloads.md#percentages-and-defaults).
func (d *DaemonSet) Limits() DaemonSetLimits {
	l := DaemonSetLimits{
		MaxUnavailable: 1,
		Burst:          scaledOr(d.Spec.BurstReplicas, intstr.FromInt32(250), d.Scheduled, false),
	}
	r := d.Spec.UpdateStrategy.RollingUpdate
	if r == nil {
		return l
	}
	l.Partition = DaemonSetPartition(r.Partition, d.Scheduled)
	desired := d.desired()
	if r.MaxSurge != nil {
		l.MaxSurge = scaled(r.MaxSurge, desired, true)
	}
	if r.MaxUnavailable != nil || l.MaxSurge > 0 {
		l.MaxUnavailable = scaledOr(r.MaxUnavailable, intstr.FromInt32(0), desired, true)
	}
	return l
}

// desired counts the nodes that should run a pod.
func (d *DaemonSet) desired() int {
	n := d.Missing
	for _, node := range d.Nodes {
		if node.ShouldRun {
			n++
		}
	}
	return n
}

// daemons are the living pods of one node, by revision.
type daemons struct {
	node     DaemonNode
	old, new *cluster.Pod
	// surplus is true when there is more than one of a kind; old and new are
	// not set then.
	surplus bool
}

// onNode sorts out the pods of a node; terminating ones are gone.
func (d *DaemonSet) onNode(node DaemonNode) daemons {
	out := daemons{node: node}
	for _, p := range node.Pods {
		if p.Deleting {
			continue
		}
		side := &out.old
		if d.updated(p) {
			side = &out.new
		}
		if *side != nil {
			return daemons{node: node, surplus: true}
		}
		*side = p
	}
	return out
}

func (d *DaemonSet) updated(p *cluster.Pod) bool {
	if g := d.TemplateGeneration; g != "" && p.Labels[templateGenerationLabel] == g {
		return true
	}
	return AtRevision(p, d.Update)
}

const templateGenerationLabel = "pod-template-generation"

// available is what a DaemonSet asks: ready, for long enough.
func (d *DaemonSet) available(p *cluster.Pod) bool {
	return p.Phase == corev1.PodRunning && podReady(p) && ReadyFor(p, seconds(d.Spec.MinReadySeconds), d.Now)
}

// Standing says what a pod counts as in the status.
func (d *DaemonSet) Standing(p *cluster.Pod) (ready, available, updated bool) {
	return podReady(p), d.available(p), d.updated(p)
}

// byNameDescending returns the nodes as an update looks at them: by the text of
// their names, n9 before n10.
func (d *DaemonSet) byNameDescending() []DaemonNode {
	out := slices.Clone(d.Nodes)
	slices.SortFunc(out, func(a, b DaemonNode) int { return strings.Compare(b.Name, a.Name) })
	return out
}

// Eligible returns the nodes that the update may be on: first those that it has
// reached, then those whose old pod is gone or going, then outdated ones that
// the selector matches; as many as the partition leaves
// (docs/kruise/workloads.md#advanced-daemonset). Inside this set the order in which Kruise goes is
// random.
func (d *DaemonSet) Eligible() []DaemonNode {
	list, _ := d.eligible()
	return list
}

// eligible also says how many of the missing nodes are among them: their pods are gone.
func (d *DaemonSet) eligible() (list []DaemonNode, missing int) {
	var reached, vacant, outdated []DaemonNode
	chosen := d.selector()
	for _, node := range d.byNameDescending() {
		switch on := d.onNode(node); {
		case on.new != nil || on.surplus:
			reached = append(reached, node)
		case on.old == nil || preparingDelete(on.old):
			vacant = append(vacant, node)
		case chosen.Matches(labels.Set(node.Labels)):
			outdated = append(outdated, node)
		}
	}
	list = slices.Concat(reached, vacant, outdated)
	room := len(d.Nodes) + d.Missing - d.Limits().Partition
	missing = upTo(room-len(reached)-len(vacant), d.Missing)
	return list[:upTo(room-missing, len(list))], missing
}

// selector returns which nodes an update may go to.
func (d *DaemonSet) selector() labels.Selector {
	r := d.Spec.UpdateStrategy.RollingUpdate
	if r == nil || r.Selector == nil {
		return labels.Everything()
	}
	s, err := metav1.LabelSelectorAsSelector(r.Selector)
	if err != nil {
		return labels.Nothing()
	}
	return s
}

func (d *DaemonSet) paused() bool {
	r := d.Spec.UpdateStrategy.RollingUpdate
	return r != nil && r.Paused != nil && *r.Paused
}
