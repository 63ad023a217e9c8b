package lower

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// outcome names the catalogue entries of a field that needs no calculation.
type outcome struct{ field, native, client string }

// always are reported wherever the field is written.
var always = []outcome{
	{"spec.replicas", "cloneset/replicas", "cloneset/replicas"},
	{"spec.selector", "cloneset/selector", "cloneset/selector"},
	{"spec.template", "cloneset/template", "cloneset/template"},
	{"spec.minReadySeconds", "cloneset/min-ready-seconds", "cloneset/min-ready-seconds"},
	{"spec.lifecycle", "cloneset/lifecycle", "cloneset/lifecycle-client"},
	{"spec.scaleStrategy.podsToDelete", "cloneset/pods-to-delete", "cloneset/pods-to-delete-client"},
	{"spec.scaleStrategy.maxUnavailable", "cloneset/scale-max-unavailable", "cloneset/scale-max-unavailable"},
	{"spec.scaleStrategy.excludePreparingDelete", "cloneset/exclude-preparing-delete", "cloneset/exclude-preparing-delete-client"},
}

// whileRolling are reported unless the type is OnDelete, which ignores them.
var whileRolling = []outcome{
	{rollingUpdate + "priorityStrategy", "cloneset/update-order", "cloneset/update-order-client"},
	{rollingUpdate + "scatterStrategy", "cloneset/update-order", "cloneset/update-order-client"},
	{rollingUpdate + "inPlaceUpdateStrategy.gracePeriodSeconds", "cloneset/grace-period", "cloneset/grace-period-client"},
	{rollingUpdate + "inPlaceUpdateStrategy.imagePreDownloadParallelism", "cloneset/image-predownload", "cloneset/image-predownload-client"},
	{rollingUpdate + "inPlaceUpdateStrategy.imagePreDownloadTimeoutSeconds", "cloneset/image-predownload", "cloneset/image-predownload-client"},
	{rollingUpdate + "inPlaceUpdateStrategy.imagePreDownloadMinUpdatedReadyPods", "cloneset/image-predownload", "cloneset/image-predownload-client"},
}

// reportWritten reports the fields of list that say something.
func (o *object) reportWritten(list []outcome, client bool) {
	for _, f := range list {
		if !says(tree.Get(o.hub, strings.Split(f.field, ".")...)) {
			continue
		}
		id := f.native
		if client {
			id = f.client
		}
		o.report(id, f.field, "")
	}
}

// says reports whether a value differs from leaving the field out.
func says(n *tree.Node) bool {
	if n == nil || tree.IsMap(n) || tree.IsSeq(n) {
		return n != nil && len(n.Content) > 0
	}
	return n.Value != "false"
}

// reportFields reports what needs no place in the native object.
func (l *lowering) reportFields() {
	l.reportWritten(always, l.form.client)
	if l.spec.RevisionHistoryLimit != nil {
		id := "cloneset/revision-history"
		if l.form.replicaSet() {
			id += "-client"
		}
		l.report(id, "spec.revisionHistoryLimit", "")
	}
	if l.spec.ProgressDeadlineSeconds != nil && !l.form.deployment() {
		l.report(l.form.own("cloneset/progress-deadline"), "spec.progressDeadlineSeconds", "")
	}
	if l.form.statefulSet() {
		l.reportClaims()
	}
}

func (l *lowering) reportClaims() {
	l.report("cloneset/volume-claims", "spec.volumeClaimTemplates", "")
	l.report("cloneset/claim-retention", "spec.volumeClaimTemplates", "")
	if !l.spec.ScaleStrategy.EnablePVCReuse {
		l.report("cloneset/pvc-reuse", "spec.scaleStrategy.enablePVCReuse", "")
	}
}

// reportRolling reports the parts of rollingUpdate.
func (l *lowering) reportRolling() {
	l.reportWritten(whileRolling, l.form.client)
	l.reportPolicy()
	l.reportPartition()
	if s := l.rolling().MaxSurge; s != nil {
		id := "cloneset/max-surge"
		if !none(*s) {
			id = l.form.own(id)
		}
		l.report(id, rollingUpdate+"maxSurge", "")
	}
	if l.rolling().MaxUnavailable != nil && l.form.client {
		l.report("cloneset/max-unavailable-client", rollingUpdate+"maxUnavailable", "")
	}
	if l.paused() {
		l.report(l.form.own("cloneset/paused"), rollingUpdate+"paused", "")
	}
}

// reportType speaks of v1beta1's type; v1alpha1 has the pod update policy in
// that field.
func (l *lowering) reportType(onDelete bool) {
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

func (l *lowering) reportPolicy() {
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

func (l *lowering) reportPartition() {
	p := l.rolling().Partition
	if p == nil || l.divided || kept(*p, 100) == 0 {
		return
	}
	n := kept(*p, l.declared())
	detail := ""
	switch {
	case l.form.deployment():
		detail = fmt.Sprintf("a Deployment has no partition: all pods are updated, where %d of %d would stay as they are", n, l.declared())
	case !l.form.client:
		detail = fmt.Sprintf("%d of %d pods stay old, as before, but always those with the lowest ordinals", n, l.declared())
	}
	l.report(l.form.own("cloneset/partition"), rollingUpdate+"partition", detail)
}

// reportUnavailable says what became of maxUnavailable. A default that means
// the same is no news.
func (l *lowering) reportUnavailable(r rolling, source intstr.IntOrString) {
	const field = rollingUpdate + "maxUnavailable"
	if r.rule == "cloneset/max-unavailable" && l.rolling().MaxUnavailable == nil {
		return
	}
	detail := ""
	if r.rule == "cloneset/max-unavailable-rounded" {
		detail = fmt.Sprintf("%s in place of %s of %d replicas, which a Deployment rounds down and a CloneSet without surge rounds up", r.unavailable.String(), source.String(), *l.replicas)
	}
	l.report(r.rule, field, detail)
}
