package controller

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// refreshInPlace brings the in-place update of a pod forward: it makes the change
// whose grace period is over, begins the next batch of containers, or lets the
// pod be ready again (docs/kruise/workloads.md#steps-on-the-pod and
// docs/kruise/workloads.md#batches-by-launch-priority). It returns after how long there is
// something to do; 0 when only a change of the pod can tell.
func (v *View) refreshInPlace(c *cluster.PodChange, p *cluster.Pod) time.Duration {
	if rules.Resting(p) {
		return 0
	}
	if _, announced := p.Annotations[kruise.InPlaceUpdateGraceAnnotation]; announced {
		return v.refreshGrace(c, p)
	}
	if v.beginNext(c, p) {
		return 0
	}
	if ready, _ := p.Condition(kruise.InPlaceUpdateReady); ready.Status == corev1.ConditionTrue {
		return 0
	}
	if slices.Contains(p.ReadinessGates, kruise.InPlaceUpdateReady) && v.inPlaceDone(p) {
		condition(c, p, kruise.InPlaceUpdateReady, corev1.ConditionTrue, "", "")
	}
	return 0
}

// inPlaceDone reports whether the pod's last in-place update is complete.
func (v *View) inPlaceDone(p *cluster.Pod) bool {
	return rules.InPlacePending(p, reportOn(v.Reports, p)).Done()
}

// updating reports whether an in-place update of the pod is under way. Its record
// is decoded only where the pod does not tell already.
func (v *View) updating(p *cluster.Pod) bool { return !rules.Resting(p) && !v.inPlaceDone(p) }

// refreshGrace makes an announced change when it is due. One that is for another
// revision than the pod's is void.
func (v *View) refreshGrace(c *cluster.PodChange, p *cluster.Pod) time.Duration {
	grace, ok := rules.InPlaceGraceOf(p)
	if !ok || !rules.AtRevision(p, grace.Revision) {
		annotate(c, kruise.InPlaceUpdateGraceAnnotation, nil)
		return 0
	}
	due, ok := rules.GraceEnds(p)
	if !ok {
		return 0
	}
	if wait := due.Sub(v.Now); wait > 0 {
		return wait
	}
	record, _ := rules.InPlaceRecordOf(p)
	apply(c, &record, announcedSpec(grace), p, v.Now)
	annotate(c, kruise.InPlaceUpdateGraceAnnotation, nil)
	annotateJSON(c, kruise.InPlaceUpdateStateAnnotation, record)
	return 0
}

// beginNext begins the next batch when its turn has come.
func (v *View) beginNext(c *cluster.PodChange, p *cluster.Pod) bool {
	// Records are not decoded as long as nothing waits.
	if !strings.Contains(p.Annotations[kruise.InPlaceUpdateStateAnnotation], `"next`) {
		return false
	}
	record, ok := rules.InPlaceRecordOf(p)
	if !ok || !record.NextDue(p, reportOn(v.Reports, p)) {
		return false
	}
	apply(c, &record, rules.InPlaceSpec{
		Images: record.NextContainerImages, Refs: record.NextContainerRefMetadata, Resources: record.NextContainerResources,
	}, p, v.Now)
	annotateJSON(c, kruise.InPlaceUpdateStateAnnotation, record)
	return true
}
