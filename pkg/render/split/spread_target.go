package split

import (
	"math"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// spreadTarget is the workload whose pods a WorkloadSpread spreads over its subsets.
type spreadTarget struct {
	*resource.Resource
	// hub is the workload in the newest version of its kind, template its pod template.
	hub      *tree.Node
	template *tree.Node
	form     spreadForm
	// scaler is the autoscaler of the workload, nil without one.
	scaler *resource.Resource
}

// spreadForm defines how the pods of a kind of target differ from those of others.
type spreadForm struct {
	nameLimit int
	// hostnames is true if pods are called after the workload, so that its name may
	// not hold dots.
	hostnames bool
	// ordinals: pods have numbers, by which they are mapped to subsets.
	ordinals bool
	// costs: deletion costs decide which pods go first.
	costs bool
	// job: the workload ends; it has completions.
	job bool
}

// spreadForms by GROUP/KIND of the target.
var spreadForms = map[string]spreadForm{
	"apps/Deployment":             {nameLimit: deploymentLimit, costs: true},
	"apps/ReplicaSet":             {nameLimit: deploymentLimit, costs: true},
	"apps/StatefulSet":            {nameLimit: revisionLimit, hostnames: true, ordinals: true},
	kruise.Group + "/CloneSet":    {nameLimit: revisionLimit, costs: true},
	kruise.Group + "/StatefulSet": {nameLimit: revisionLimit, hostnames: true, ordinals: true},
	"batch/Job":                   {nameLimit: jobLimit, hostnames: true, job: true},
}

// jobLimit is the longest name of a Job: its pods carry it as a label.
const jobLimit = 63

// indexTargets indexes what can be a target, by what it is called and, while kustomize
// runs, was called.
func indexTargets(c *stage.Context, in []*resource.Resource) map[resource.ID]*resource.Resource {
	out := map[resource.ID]*resource.Resource{}
	for _, r := range in {
		if _, twice := out[c.Facts.IDOf(r)]; !twice {
			out[c.Facts.IDOf(r)] = r
		}
	}
	for _, r := range in {
		for _, id := range stage.FormerIDs(c.Facts, r) {
			if _, taken := out[id]; !taken {
				out[id] = r
			}
		}
	}
	return out
}

// findTarget returns the workload that the WorkloadSpread names, with the autoscaler that
// owns its replicas. It is nil where the input has no such workload with a pod template.
func findTarget(c *stage.Context, r *resource.Resource, ref *kruise.TargetReference, all map[resource.ID]*resource.Resource) *spreadTarget {
	if ref == nil {
		return nil
	}
	id := resource.ID{Group: resource.GroupOf(ref.APIVersion), Kind: ref.Kind, Namespace: c.Facts.NamespaceOf(r), Name: ref.Name}
	workload := all[id]
	if workload == nil {
		return nil
	}
	form, known := spreadForms[id.Group+"/"+id.Kind]
	hub, _, err := kruise.ToHub(workload.Node())
	template := tree.Get(hub, "spec", "template")
	if !known || err != nil || !tree.IsMap(template) {
		return nil
	}
	if len(tree.Items(tree.Get(hub, "spec", "volumeClaimTemplates"))) > 0 {
		form.hostnames = true // a CloneSet with claims can only be lowered to a StatefulSet
	}
	return &spreadTarget{workload, hub, template, form, scalers(c.Facts)[c.Facts.IDOf(workload)]}
}

// scalersKey is the key of the autoscalers by what they scale.
type scalersKey struct{}

// scalers are the autoscalers by what they scale, found once for all spreads. Of several for
// one target the first counts, a HorizontalPodAutoscaler before a ScaledObject.
func scalers(f *resource.Facts) map[resource.ID]*resource.Resource {
	return resource.Once(f, scalersKey{}, func() map[resource.ID]*resource.Resource {
		out := map[resource.ID]*resource.Resource{}
		for _, kind := range [][2]string{{"autoscaling", "HorizontalPodAutoscaler"}, {"keda.sh", "ScaledObject"}} {
			for _, r := range f.All(kind[0], kind[1]) {
				ref := tree.Get(r.Node(), "spec", "scaleTargetRef")
				group, kind := resource.GroupOf(tree.StrAt(ref, "apiVersion")), tree.StrAt(ref, "kind")
				if kind == "" && r.Kind() == "ScaledObject" {
					group, kind = "apps", kruise.KindDeployment
				}
				id := resource.ID{Group: group, Kind: kind, Namespace: f.NamespaceOf(r), Name: tree.StrAt(ref, "name")}
				if _, taken := out[id]; !taken {
					out[id] = r
				}
			}
		}
		return out
	})
}

// withTemplate returns the workload with another pod template.
func (t *spreadTarget) withTemplate(template *tree.Node) *tree.Node {
	out := tree.Shallow(t.hub)
	spec := stage.Block(tree.Get(out, "spec"))
	tree.Set(spec, "template", template)
	tree.Set(out, "spec", spec)
	return out
}

// firstOrdinal is spec.ordinals.start.
func (t *spreadTarget) firstOrdinal() int {
	n, _ := tree.Int(tree.Get(t.hub, "spec", "ordinals", "start"))
	return int(min(max(n, 0), math.MaxInt32))
}

// reservedOrdinals are the ordinals that an Advanced StatefulSet leaves out.
func (t *spreadTarget) reservedOrdinals() []intstr.IntOrString {
	var list []intstr.IntOrString
	if n := tree.Get(t.hub, "spec", "reserveOrdinals"); n != nil {
		if _, err := tree.Decode(n, &list); err != nil {
			return nil // the check has refused it
		}
	}
	return list
}
