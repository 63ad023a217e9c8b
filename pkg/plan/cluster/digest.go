package cluster

import (
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// RevisionLabel is on the pods of every workload that keeps revisions.
const RevisionLabel = "controller-revision-hash"

// Digest is what rules ask of every pod in every pass, read out of its maps and
// lists once: ten thousand pods are ten thousand scattered maps, and looking them
// up takes most of a pass. Each part holds for the very map or list that it was
// read from, so a copy of a pod that is given others has none.
type Digest struct {
	labels      map[string]string
	state       string
	revision    string
	marked      bool
	unavailable bool

	annotations map[string]string
	grace       bool
	record      string
	budget      string

	conditions []Condition
	ready      int
	gate       int
	readyIs    Condition
	gateIs     Condition
}

// Equal is always true: a digest says nothing that the pod does not, and
// comparisons of pods shall pass it by.
func (Digest) Equal(Digest) bool { return true }

// Digest prepares the pod for being asked often. It is for whoever has made the
// pod, before anybody else sees it; without it all answers are the same.
func (p *Pod) Digest() {
	d := &p.Digested
	if !p.labelsDigested() {
		d.state, d.revision = p.LifecycleState(), p.Revision()
		d.marked, d.unavailable = p.Marked(), p.HeldUnavailable()
		d.labels = p.Labels
	}
	if !p.annotationsDigested() {
		grace, record, budget := p.GraceAnnounced(), p.InPlaceRecord(), p.RelatedBudget()
		d.annotations, d.grace, d.record, d.budget = p.Annotations, grace, record, budget
	}
	if !p.conditionsDigested() {
		d.ready, d.gate = p.find(string(corev1.PodReady)), p.find(kruise.InPlaceUpdateReady)
		d.readyIs, d.gateIs = p.nth(d.ready), p.nth(d.gate)
		d.conditions = p.Conditions
	}
}

func (p *Pod) labelsDigested() bool      { return sameMap(p.Digested.labels, p.Labels) }
func (p *Pod) annotationsDigested() bool { return sameMap(p.Digested.annotations, p.Annotations) }

func (p *Pod) conditionsDigested() bool {
	a, b := p.Digested.conditions, p.Conditions
	return len(a) > 0 && len(a) == len(b) && &a[0] == &b[0]
}

// sameMap reports whether two maps are one and the same; none is the same as
// none that was never read.
func sameMap(a, b map[string]string) bool {
	return a != nil && reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
}

func (p *Pod) find(kind string) int {
	for i := range p.Conditions {
		if p.Conditions[i].Type == kind {
			return i
		}
	}
	return -1
}

func (p *Pod) nth(i int) Condition {
	if i < 0 {
		return Condition{}
	}
	return p.Conditions[i]
}

// LifecycleState is the pod's label of that name.
func (p *Pod) LifecycleState() string {
	if p.labelsDigested() {
		return p.Digested.state
	}
	return p.Labels[kruise.LifecycleStateLabel]
}

// Revision is the pod's revision as its label spells it.
func (p *Pod) Revision() string {
	if p.labelsDigested() {
		return p.Digested.revision
	}
	return p.Labels[RevisionLabel]
}

// Marked reports whether somebody marked the pod for deletion.
func (p *Pod) Marked() bool {
	if p.labelsDigested() {
		return p.Digested.marked
	}
	_, ok := p.Labels[kruise.SpecifiedDeleteLabel]
	return ok
}

// HeldUnavailable reports whether a label takes the pod out of its budget's
// count.
func (p *Pod) HeldUnavailable() bool {
	if p.labelsDigested() {
		return p.Digested.unavailable
	}
	for key := range p.Labels {
		if strings.HasPrefix(key, kruise.UnavailablePodLabelPrefix) {
			return true
		}
	}
	return false
}

// GraceAnnounced reports whether an in-place update of the pod is announced, but
// not made yet.
func (p *Pod) GraceAnnounced() bool {
	if p.annotationsDigested() {
		return p.Digested.grace
	}
	_, ok := p.Annotations[kruise.InPlaceUpdateGraceAnnotation]
	return ok
}

// InPlaceRecord is the pod's own record of its last in-place update; it is empty
// without one.
func (p *Pod) InPlaceRecord() string {
	if p.annotationsDigested() {
		return p.Digested.record
	}
	return p.Annotations[kruise.InPlaceUpdateStateAnnotation]
}

// RelatedBudget names the PodUnavailableBudget of the pod.
func (p *Pod) RelatedBudget() string {
	if p.annotationsDigested() {
		return p.Digested.budget
	}
	if name := p.Annotations[kruise.RelatedBudgetAnnotation]; name != "" {
		return name
	}
	return p.Annotations[kruise.RelatedBudgetOlderAnnotation]
}
