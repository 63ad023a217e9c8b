package cluster

import (
	"reflect"
	"strings"
	"time"

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
	annotations map[string]string
	first       *Condition
	state       string
	revision    string

	ready, gate            int
	since                  time.Time
	count                  int
	marked, unavailable    bool
	grace, isReady, isShut bool
	record, budget         string
}

// Equal is always true: a digest has no more than the pod, and comparisons of pods should ignore
// it.
func (Digest) Equal(Digest) bool { return true }

// Digest prepares the pod for being asked often. It is for a caller that has made the
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
		ready, gate := p.find(string(corev1.PodReady)), p.find(kruise.InPlaceUpdateReady)
		d.isReady, d.isShut, d.since = p.IsReady(), p.GateShut(), p.ReadySince()
		d.ready, d.gate, d.first, d.count = ready, gate, nil, len(p.Conditions)
		if d.count > 0 {
			d.first = &p.Conditions[0]
		}
	}
}

func (p *Pod) labelsDigested() bool      { return sameMap(p.Digested.labels, p.Labels) }
func (p *Pod) annotationsDigested() bool { return sameMap(p.Digested.annotations, p.Annotations) }

func (p *Pod) conditionsDigested() bool {
	d := &p.Digested
	return d.count > 0 && d.count == len(p.Conditions) && d.first == &p.Conditions[0]
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

// IsReady reports whether the condition Ready is True.
func (p *Pod) IsReady() bool {
	if p.conditionsDigested() {
		return p.Digested.isReady
	}
	return p.nth(p.find(string(corev1.PodReady))).Status == corev1.ConditionTrue
}

// ReadySince is since when the condition Ready has been what it is.
func (p *Pod) ReadySince() time.Time {
	if p.conditionsDigested() {
		return p.Digested.since
	}
	return p.nth(p.find(string(corev1.PodReady))).Since
}

// GateShut reports whether the condition InPlaceUpdateReady is there and not True:
// an in-place update holds the pod back.
func (p *Pod) GateShut() bool {
	if p.conditionsDigested() {
		return p.Digested.isShut
	}
	i := p.find(kruise.InPlaceUpdateReady)
	return i >= 0 && p.nth(i).Status != corev1.ConditionTrue
}

// GateOpen reports whether the condition InPlaceUpdateReady is True.
func (p *Pod) GateOpen() bool {
	if p.conditionsDigested() {
		return p.Digested.gate >= 0 && !p.Digested.isShut
	}
	return p.nth(p.find(kruise.InPlaceUpdateReady)).Status == corev1.ConditionTrue
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

// Marked reports whether the pod is marked for deletion.
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
