package controller

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// inPlaceUpdate is a change of template, ready to be made inside pods.
type inPlaceUpdate struct {
	spec rules.InPlaceSpec
	// revision is how annotations of a pod name the new revision, labels how its
	// labels do: the full name or, for daemon sets, the hash.
	revision string
	labels   map[string]string
	// grace is how many seconds a pod is out of service before its images change.
	grace int32
}

// start returns the change that begins the update of a pod
// (docs/kruise/workloads.md#steps-on-the-pod). The lifecycle state is not part of it.
func (u *inPlaceUpdate) start(p *cluster.Pod, now time.Time) cluster.PodChange {
	var c cluster.PodChange
	if u.spec.NotReady {
		condition(&c, p, kruise.InPlaceUpdateReady, corev1.ConditionFalse, startInPlaceUpdate, "")
	}
	for key, value := range u.labels {
		label(&c, key, value)
	}
	record := rules.InPlaceRecord{
		Revision: u.revision, UpdateTimestamp: wholeSeconds(now),
		UpdateImages: len(u.spec.Images) > 0, UpdateEnvFromMetadata: len(u.spec.Refs) > 0, UpdateResources: len(u.spec.Resources) > 0,
	}
	if u.grace > 0 {
		// The change as it waits on the pod for the grace period to end.
		g := rules.InPlaceGrace{
			Revision: u.revision, ContainerImages: u.spec.Images, ContainerRefMetadata: u.spec.Refs, ContainerResources: u.spec.Resources,
			UpdateEnvFromMetadata: len(u.spec.Refs) > 0, GraceSeconds: u.grace,
		}
		if len(u.spec.Metadata.Labels)+len(u.spec.Metadata.Annotations) > 0 {
			g.MetaDataPatch = encoded(map[string]any{"metadata": u.spec.Metadata})
		}
		annotateJSON(&c, kruise.InPlaceUpdateGraceAnnotation, g)
	} else {
		apply(&c, &record, u.spec, p, now)
	}
	annotateJSON(&c, kruise.InPlaceUpdateStateAnnotation, record)
	return c
}

// startInPlaceUpdate is the reason of the condition InPlaceUpdateReady.
const startInPlaceUpdate = "StartInPlaceUpdate"

// apply writes what need not wait: the metadata and the containers of the first batch. The record
// has the rest (docs/kruise/workloads.md#batches-by-launch-priority).
func apply(c *cluster.PodChange, record *rules.InPlaceRecord, spec rules.InPlaceSpec, p *cluster.Pod, now time.Time) {
	merge(c, spec.Metadata)
	batch := firstBatch(spec, p)
	record.NextContainerImages, record.NextContainerRefMetadata, record.NextContainerResources = nil, nil, nil
	record.PreCheckBeforeNext = nil
	for _, name := range slices.Sorted(maps.Keys(spec.Images)) {
		place(&c.Images, &record.NextContainerImages, name, spec.Images[name], batch)
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Refs)) {
		var now map[string]rules.Metadata
		place(&now, &record.NextContainerRefMetadata, name, spec.Refs[name], batch)
		merge(c, now[name])
		if _, image := spec.Images[name]; !image && slices.Contains(batch, name) {
			c.Restart = append(c.Restart, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Resources)) {
		var now map[string]any
		place(&now, &record.NextContainerResources, name, spec.Resources[name], batch)
		if len(now) > 0 {
			c.Resources = append(c.Resources, name)
		}
	}
	c.Reread = spec.Rereads
	record.Begin(p, batch, c.Images, now)
	if record.HasNext() {
		record.PreCheckBeforeNext = &rules.InPlaceNextCheck{ContainersRequiredReady: batch}
	}
}

// place puts what a container gets to what is written now, or to what waits.
func place[T any](now, next *map[string]T, name string, value T, batch []string) {
	to := next
	if slices.Contains(batch, name) {
		to = now
	}
	if *to == nil {
		*to = map[string]T{}
	}
	(*to)[name] = value
}

// firstBatch are the containers that change first, by name.
func firstBatch(spec rules.InPlaceSpec, p *cluster.Pod) []string {
	names := make([]string, len(p.Containers))
	for i := range p.Containers {
		names[i] = p.Containers[i].Name
	}
	batches := rules.InPlaceBatches(spec.Affected(names, func(name string) *int {
		c, _ := p.Container(name)
		return c.Priority
	}))
	if len(batches) == 0 {
		return []string{}
	}
	slices.Sort(batches[0])
	return batches[0]
}

// merge writes labels and annotations.
func merge(c *cluster.PodChange, m rules.Metadata) {
	for key, value := range m.Labels {
		if c.Labels == nil {
			c.Labels = map[string]*string{}
		}
		c.Labels[key] = value
	}
	for key, value := range m.Annotations {
		annotate(c, key, value)
	}
}

func annotateJSON(c *cluster.PodChange, key string, value any) {
	annotate(c, key, new(string(encoded(value))))
}

// encoded writes what was made from decoded JSON, texts and times: it can always
// be encoded.
func encoded(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return text
}

// updates is how each pod of a workload comes to the update revision. Templates are compared once
// per old revision, not once per pod.
type updates struct {
	view   *View
	all    []cluster.Revision
	update cluster.Revision
	policy rules.UpdatePolicy
	// revision, labels and grace are those of [inPlaceUpdate].
	revision string
	labels   map[string]string
	grace    int32
	// needsGate is whether only pods with the readiness gate InPlaceUpdateReady
	// can be updated in place.
	needsGate bool
	known     map[string]*fromRevision
}

// fromRevision is the way from one old revision to the update's.
type fromRevision struct {
	eligible rules.Eligibility
	update   *inPlaceUpdate
}

// of returns how a pod is updated, and why; the update is nil unless it is done
// in place.
func (u *updates) of(p *cluster.Pod) (mode rules.UpdateMode, why string, update *inPlaceUpdate) {
	old, stored := revisionOf(u.all, p)
	way := u.known[old.Name]
	if way == nil {
		change := rules.TemplateChange{Old: old, New: u.update, Policy: u.policy, Gates: u.view.Gates}
		way = &fromRevision{
			eligible: change.Eligible(),
			update:   &inPlaceUpdate{spec: change.InPlaceSpec(), revision: u.revision, labels: u.labels, grace: u.grace},
		}
		if u.known == nil {
			u.known = map[string]*fromRevision{}
		}
		u.known[old.Name] = way
	}
	mode, why = way.eligible.ForPod(p, stored, u.needsGate)
	switch mode {
	case rules.ModeInPlace, rules.ModeMetadataOnly:
		return mode, why, way.update
	case rules.ModeUnchanged:
		// Another revision of the same template: only the label changes.
		if u.policy != "" && u.policy != rules.PolicyRecreate {
			return mode, why, way.update
		}
	}
	return mode, why, nil
}

// refreshInPlace brings the in-place update of a pod forward: it makes the change whose grace
// period is over, begins the next batch of containers, or lets the pod be ready again
// (docs/kruise/workloads.md#steps-on-the-pod and
// docs/kruise/workloads.md#batches-by-launch-priority). It returns after how long there is
// something to do; 0 if it depends on a change of the pod.
func (v *View) refreshInPlace(c *cluster.PodChange, p *cluster.Pod) time.Duration {
	if rules.Resting(p) {
		return 0
	}
	if _, announced := p.Annotations[kruise.InPlaceUpdateGraceAnnotation]; announced {
		// Make an announced change when it is due. One that is for another revision than the pod's is void.
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
		// What the announcement says, which waited for the grace period to end.
		spec := rules.InPlaceSpec{Images: grace.ContainerImages, Refs: grace.ContainerRefMetadata, Resources: grace.ContainerResources}
		var patch struct{ Metadata rules.Metadata }
		if json.Unmarshal(grace.MetaDataPatch, &patch) == nil {
			spec.Metadata = patch.Metadata
		}
		apply(c, &record, spec, p, v.Now)
		annotate(c, kruise.InPlaceUpdateGraceAnnotation, nil)
		annotateJSON(c, kruise.InPlaceUpdateStateAnnotation, record)
		return 0
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

// Updating reports whether an in-place update of the pod is in progress. Its record is decoded
// only if the pod's conditions do not decide.
func (v *View) Updating(p *cluster.Pod) bool { return !rules.Resting(p) && !v.inPlaceDone(p) }

// beginNext begins the next batch when it is due.
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

// InPlace is the update of pods inside themselves as a client makes it where there
// is no Kruise. It writes what Kruise's controllers would, so that a reader of
// a pod, a later run or a later Kruise, reads the same story.
type InPlace struct {
	Spec rules.InPlaceSpec
	// Revision is the name of the new one, Labels the pod's labels with it.
	Revision  string
	Labels    map[string]string
	Lifecycle *kruise.Lifecycle
}

// Prepare takes a pod out of its normal life before its containers change.
func (u InPlace) Prepare(p *cluster.Pod, now time.Time) cluster.PodChange {
	var c cluster.PodChange
	enterState(&c, p, rules.StatePreparingUpdate, u.lifecycle(), now)
	return c
}

// Start changes labels, metadata and the first batch of containers.
func (u InPlace) Start(p *cluster.Pod, now time.Time) cluster.PodChange {
	update := inPlaceUpdate{spec: u.Spec, revision: u.Revision, labels: u.Labels}
	c := update.start(p, now)
	enterState(&c, p, rules.StateUpdating, u.lifecycle(), now)
	return c
}

// Continue begins the next batch of containers, ends the update, or moves the pod
// on in its lifecycle; ok is false while there is nothing to write.
func (u InPlace) Continue(p *cluster.Pod, node rules.NodeReport, now time.Time) (c cluster.PodChange, ok bool) {
	v := &View{Now: now, Reports: map[string]rules.NodeReport{p.UID: node}}
	if v.beginNext(&c, p) {
		return c, true
	}
	v.refreshInPlace(&c, p)
	done := rules.InPlacePending(p, node).Done()
	if to := rules.NextState(p, rules.Refresh{Lifecycle: u.Lifecycle, AtUpdate: true, InPlaceDone: done}); to != rules.StateOf(p) {
		enterState(&c, p, to, u.lifecycle(), now)
		if to == rules.StateNormal {
			// Kruise lets a pod go on entering Updated alone; one whose template was taken
			// back while it was prepared would stay not ready for good.
			letReady(&c, p, preUpdateHook)
		}
	}
	return c, !c.Empty()
}

// PrepareDelete marks a pod that a preDelete hook holds.
func (u InPlace) PrepareDelete(p *cluster.Pod, now time.Time) cluster.PodChange {
	var c cluster.PodChange
	enterState(&c, p, rules.StatePreparingDelete, u.lifecycle(), now)
	return c
}

func (u InPlace) lifecycle() *kruise.Lifecycle {
	if u.Lifecycle == nil {
		return &kruise.Lifecycle{}
	}
	return u.Lifecycle
}
