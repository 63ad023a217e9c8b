package lower

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// lowering is one CloneSet on its way.
type lowering struct {
	object
	around *around
	spec   kruise.CloneSetSpec
	form   form
	// replicas is nil where an autoscaler owns the number.
	replicas *int
	// divided says that the state before has decided what becomes of the partition.
	divided bool
}

// lowerCloneSet returns what the CloneSet r becomes, the workload first.
func lowerCloneSet(c *stage.Context, around *around, r *resource.Resource) ([]*resource.Resource, error) {
	l, err := newLowering(c, around, r)
	if err != nil {
		return nil, err
	}
	if p := l.pair(); p != nil {
		canary, stable := p.workloads()
		l.reportFields()
		c.Lineage.Became(r.ID(), stable)
		return []*resource.Resource{canary, stable}, nil
	}
	service := headless{}
	if l.form.statefulSet() {
		if service, err = l.headless(); err != nil {
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

func newLowering(c *stage.Context, around *around, r *resource.Resource) (*lowering, error) {
	var set kruise.CloneSet
	o, err := read(c, r, "cloneset", &set)
	if err != nil {
		return nil, err
	}
	o.alwaysPull = true
	l := &lowering{object: o, around: around, spec: set.Spec}
	l.form = formOf(c.Driver, len(set.Spec.VolumeClaimTemplates) > 0)
	if !around.autoscaled[c.Facts.IDOf(r)] {
		n := l.declared()
		l.replicas = &n
	}
	return l, nil
}

// declared is the number of replicas that the object asks for.
func (l *lowering) declared() int {
	if l.spec.Replicas == nil {
		return 1
	}
	return int(*l.spec.Replicas)
}

// workload returns the native object. What is added stands behind the selector.
func (l *lowering) workload(serviceName string) *tree.Node {
	return l.renamed(l.native("apps/v1", l.form.kind, func(spec *tree.Node) *tree.Node { return l.nativeSpec(spec, serviceName) }))
}

// nativeSpec returns the spec of the native object.
func (l *lowering) nativeSpec(spec *tree.Node, serviceName string) *tree.Node {
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
func (l *lowering) field(name string, v *tree.Node) *tree.Node {
	kept := true
	switch name {
	case "replicas", "selector", "minReadySeconds":
	case "template":
		return l.template(v)
	case "revisionHistoryLimit":
		kept = !l.form.replicaSet()
	case "progressDeadlineSeconds":
		if l.form.deployment() {
			return l.deadline(v)
		}
		kept = false
	case "volumeClaimTemplates":
		kept = l.form.statefulSet()
	default:
		kept = false
	}
	if !kept {
		return nil
	}
	return v
}

// additions writes out what a CloneSet does by nature and the native kind only
// when told so: it creates pods side by side, its claims go with their pod and
// with itself (docs/kruise/workloads.md#revisions and
// docs/kruise/workloads.md#named-pods-and-claims), and it knows no deadline.
func (l *lowering) additions(spec *tree.Node, serviceName string) {
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
