package lower

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// cloneSetExpansion is one CloneSet that is rendered.
type cloneSetExpansion struct {
	object
	related *relatedObjects
	spec    kruise.CloneSetSpec
	form    form
	// replicas is nil where an autoscaler owns the number.
	replicas *int
	// divided is true when the state before has decided about the partition.
	divided bool
}

// lowerCloneSet returns what the CloneSet r becomes, the workload first.
func lowerCloneSet(c *stage.Context, related *relatedObjects, r *resource.Resource) ([]*resource.Resource, error) {
	l, err := newLowering(c, related, r)
	if err != nil {
		return nil, err
	}
	if p := l.canaryPair(); p != nil {
		canary, stable := p.workloads()
		l.reportFields()
		c.Lineage.Became(r.ID(), stable)
		return []*resource.Resource{canary, stable}, nil
	}
	service := governingService{}
	if l.form.statefulSet() {
		if service, err = l.governingService(); err != nil {
			return nil, err
		}
	}
	workload := resource.Derived(l.workload(service.name), r)
	l.reportFields()
	c.Lineage.Became(r.ID(), workload)
	if service.made != nil {
		return []*resource.Resource{workload, service.made}, nil
	}
	return []*resource.Resource{workload}, nil
}

func newLowering(c *stage.Context, related *relatedObjects, r *resource.Resource) (*cloneSetExpansion, error) {
	var set kruise.CloneSet
	o, err := newObject(c, r, "cloneset", &set)
	if err != nil {
		return nil, err
	}
	o.alwaysPull = true
	l := &cloneSetExpansion{object: o, related: related, spec: set.Spec}
	l.form = formOf(c.Driver, len(set.Spec.VolumeClaimTemplates) > 0)
	if !related.autoscaled[c.Facts.IDOf(r)] {
		n := l.declaredReplicas()
		l.replicas = &n
	}
	return l, nil
}

// declaredReplicas is the number of replicas that the object asks for.
func (l *cloneSetExpansion) declaredReplicas() int {
	if l.spec.Replicas == nil {
		return 1
	}
	return int(*l.spec.Replicas)
}

// workload returns the native object. What is added comes after the selector.
func (l *cloneSetExpansion) workload(serviceName string) *tree.Node {
	return l.withValidName(l.native("apps/v1", l.form.kind, func(spec *tree.Node) *tree.Node { return l.nativeSpec(spec, serviceName) }))
}

// nativeSpec returns the spec of the native object.
func (l *cloneSetExpansion) nativeSpec(spec *tree.Node, serviceName string) *tree.Node {
	strategyKey, strategy := l.strategy()
	out := stage.Fields(spec, func(name string, v *tree.Node) (string, *tree.Node) {
		if name == "updateStrategy" {
			return strategyKey, strategy
		}
		return name, l.field(name, v)
	})
	if strategy != nil && !tree.Has(out, strategyKey) {
		tree.InsertAfter(out, "selector", strategyKey, strategy)
	}
	l.additions(out, serviceName)
	return out
}

// field returns the value of a field of spec in the native object, nil where
// that has no such field.
func (l *cloneSetExpansion) field(name string, v *tree.Node) *tree.Node {
	switch {
	case name == "template":
		return l.template(v)
	case name == "progressDeadlineSeconds" && l.form.deployment():
		return l.deadline(v)
	case name == "replicas", name == "selector", name == "minReadySeconds",
		name == "revisionHistoryLimit" && !l.form.replicaSet(),
		name == "volumeClaimTemplates" && l.form.statefulSet():
		return v
	}
	return nil
}

// additions writes the options with which the native kind behaves as a CloneSet does by default:
// it creates pods in parallel, its claims are deleted with their pod and with itself
// (docs/kruise/workloads.md#revisions and docs/kruise/workloads.md#named-pods-and-claims), and it
// knows no deadline.
func (l *cloneSetExpansion) additions(spec *tree.Node, serviceName string) {
	if l.form.statefulSet() {
		tree.InsertAfter(spec, "selector", "persistentVolumeClaimRetentionPolicy", tree.Map("whenDeleted", "Delete", "whenScaled", "Delete"))
		tree.InsertAfter(spec, "selector", "podManagementPolicy", tree.String("Parallel"))
		tree.InsertAfter(spec, "selector", "serviceName", tree.String(serviceName))
	}
	if !l.form.deployment() {
		return
	}
	if tree.Get(spec, "progressDeadlineSeconds") == nil {
		tree.InsertAfter(spec, "selector", "progressDeadlineSeconds", tree.Int64(noDeadline))
		l.report("cloneset/progress-deadline-none", "spec.progressDeadlineSeconds", "")
	}
	if l.paused() {
		tree.InsertAfter(spec, "selector", "paused", tree.Boolean(true))
	}
}

// fieldRule names the catalogue entries of a field that needs no calculation.
type fieldRule struct{ field, native, client string }

// cloneSetFields are reported when the field is set.
var cloneSetFields = []fieldRule{
	{"spec.replicas", "cloneset/replicas", "cloneset/replicas"},
	{"spec.selector", "cloneset/selector", "cloneset/selector"},
	{"spec.template", "cloneset/template", "cloneset/template"},
	{"spec.minReadySeconds", "cloneset/min-ready-seconds", "cloneset/min-ready-seconds"},
	{"spec.lifecycle", "cloneset/lifecycle", "cloneset/lifecycle-client"},
	{"spec.scaleStrategy.podsToDelete", "cloneset/pods-to-delete", "cloneset/pods-to-delete-client"},
	{"spec.scaleStrategy.maxUnavailable", "cloneset/scale-max-unavailable", "cloneset/scale-max-unavailable"},
	{"spec.scaleStrategy.excludePreparingDelete", "cloneset/exclude-preparing-delete", "cloneset/exclude-preparing-delete-client"},
}

// cloneSetRollingFields are reported unless the type is OnDelete, which ignores them.
var cloneSetRollingFields = []fieldRule{
	{rollingUpdate + "priorityStrategy", "cloneset/update-order", "cloneset/update-order-client"},
	{rollingUpdate + "scatterStrategy", "cloneset/update-order", "cloneset/update-order-client"},
	{rollingUpdate + "inPlaceUpdateStrategy.gracePeriodSeconds", "cloneset/grace-period", "cloneset/grace-period-client"},
	{rollingUpdate + "inPlaceUpdateStrategy.imagePreDownloadParallelism", "cloneset/image-predownload", "cloneset/image-predownload-client"},
	{rollingUpdate + "inPlaceUpdateStrategy.imagePreDownloadTimeoutSeconds", "cloneset/image-predownload", "cloneset/image-predownload-client"},
	{rollingUpdate + "inPlaceUpdateStrategy.imagePreDownloadMinUpdatedReadyPods", "cloneset/image-predownload", "cloneset/image-predownload-client"},
}

// reportWritten reports the fields of list that have an effect.
func (o *object) reportWritten(list []fieldRule, client bool) {
	for _, f := range list {
		if !hasEffect(tree.Get(o.hub, strings.Split(f.field, ".")...)) {
			continue
		}
		id := f.native
		if client {
			id = f.client
		}
		o.report(id, f.field, "")
	}
}

// hasEffect reports whether a value differs from leaving the field out.
func hasEffect(n *tree.Node) bool {
	if n == nil || tree.IsMap(n) || tree.IsSeq(n) {
		return n != nil && len(n.Content) > 0
	}
	return n.Value != "false"
}

// reportFields reports the fields that the native object does not have.
func (l *cloneSetExpansion) reportFields() {
	l.reportWritten(cloneSetFields, l.form.client)
	if l.spec.RevisionHistoryLimit != nil {
		id := "cloneset/revision-history"
		if l.form.replicaSet() {
			id += "-client"
		}
		l.report(id, "spec.revisionHistoryLimit", "")
	}
	if l.spec.ProgressDeadlineSeconds != nil && !l.form.deployment() {
		l.report(l.form.ruleByKind("cloneset/progress-deadline"), "spec.progressDeadlineSeconds", "")
	}
	if l.form.statefulSet() {
		l.report("cloneset/volume-claims", "spec.volumeClaimTemplates", "")
		l.report("cloneset/claim-retention", "spec.volumeClaimTemplates", "")
		if !l.spec.ScaleStrategy.EnablePVCReuse {
			l.report("cloneset/pvc-reuse", "spec.scaleStrategy.enablePVCReuse", "")
		}
	}
}

// reportRolling reports the parts of rollingUpdate.
func (l *cloneSetExpansion) reportRolling() {
	l.reportWritten(cloneSetRollingFields, l.form.client)
	l.reportPolicy()
	l.reportPartition()
	if s := l.rolling().MaxSurge; s != nil {
		id := "cloneset/max-surge"
		if !isZero(*s) {
			id = l.form.ruleByKind(id)
		}
		l.report(id, rollingUpdate+"maxSurge", "")
	}
	if l.rolling().MaxUnavailable != nil && l.form.client {
		l.report("cloneset/max-unavailable-client", rollingUpdate+"maxUnavailable", "")
	}
	if l.paused() {
		l.report(l.form.ruleByKind("cloneset/paused"), rollingUpdate+"paused", "")
	}
}

// reportType reports the type of v1beta1; in v1alpha1 that field has the pod update policy.
func (l *cloneSetExpansion) reportType(onDelete bool) {
	const field = "spec.updateStrategy.type"
	switch {
	case onDelete && l.form.deployment():
		l.report("cloneset/on-delete", field, "")
	case onDelete:
		l.report("cloneset/type", field, "OnDelete stays: the native parent replaces only pods that are deleted")
	case tree.StrAt(l.r.Node(), "spec", "updateStrategy", "type") == "RollingUpdate":
		l.report("cloneset/type", field, "")
	}
}

func (l *cloneSetExpansion) reportPolicy() {
	const field = rollingUpdate + "podUpdatePolicy"
	switch policy := l.rolling().PodUpdatePolicy; {
	case policy == "":
	case policy == kruise.RecreateCloneSetPodUpdateStrategyType:
		l.report("cloneset/recreate", field, "")
	case l.form.client:
		l.report("cloneset/in-place-client", field, "")
	case policy == kruise.InPlaceOnlyCloneSetPodUpdateStrategyType:
		l.report("cloneset/in-place-only", field, "")
	default:
		l.report("cloneset/in-place", field, "")
	}
}

func (l *cloneSetExpansion) reportPartition() {
	p := l.rolling().Partition
	if p == nil || l.divided || rules.Partition(p, 100) == 0 {
		return
	}
	n := rules.Partition(p, l.declaredReplicas())
	detail := ""
	switch {
	case l.form.deployment():
		detail = fmt.Sprintf("a Deployment has no partition: all pods are updated, where %d of %d would stay as they are", n, l.declaredReplicas())
	case !l.form.client:
		detail = fmt.Sprintf("%d of %s at the old revision, as before, but always those with the lowest ordinals", n, counted.With(l.declaredReplicas(), "pod stays", "pods stay"))
	}
	l.report(l.form.ruleByKind("cloneset/partition"), rollingUpdate+"partition", detail)
}

// reportUnavailable reports how maxUnavailable was rendered. A default with the
// same meaning is not reported.
func (l *cloneSetExpansion) reportUnavailable(r rollingBudget, source intstr.IntOrString) {
	const field = rollingUpdate + "maxUnavailable"
	if r.rule == "cloneset/max-unavailable" && l.rolling().MaxUnavailable == nil {
		return
	}
	detail := ""
	if r.rule == "cloneset/max-unavailable-rounded" {
		detail = fmt.Sprintf("%s in place of %s of %s, which a Deployment rounds down and a CloneSet without surge rounds up", r.unavailable.String(), source.String(), counted.Of(*l.replicas, "replica"))
	}
	l.report(r.rule, field, detail)
}
