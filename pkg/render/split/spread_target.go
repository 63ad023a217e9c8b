package split

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// spreadForm is what a kind of target is like.
type spreadForm struct {
	nameLimit int
	// hostnames says that pods are called after the workload, so that its name may
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

// findable indexes what can be a target, by what it is called and, while kustomize
// runs, was called.
func findable(c *stage.Context, in []*resource.Resource) map[resource.ID]*resource.Resource {
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

// find looks the target up among what the input has, and the autoscaler that
// owns its replicas.
func (s *spreading) find(all map[resource.ID]*resource.Resource) {
	ref := s.spec.TargetReference
	if ref == nil {
		return
	}
	id := resource.ID{Group: resource.GroupOf(ref.APIVersion), Kind: ref.Kind, Namespace: s.c.Facts.NamespaceOf(s.r), Name: ref.Name}
	r := all[id]
	if r == nil {
		return
	}
	form, known := spreadForms[id.Group+"/"+id.Kind]
	whole, _, err := kruise.ToHub(r.Node())
	if !known || err != nil || !tree.IsMap(tree.Get(whole, "spec", "template")) {
		return
	}
	s.target, s.whole, s.form, s.template = r, whole, form, tree.Get(whole, "spec", "template")
	if len(tree.Items(tree.Get(whole, "spec", "volumeClaimTemplates"))) > 0 {
		s.form.hostnames = true // a CloneSet with claims can only be lowered to a StatefulSet
	}
	s.scaler = s.autoscaler()
}

// scalersKey is the key of the autoscalers by what they scale.
type scalersKey struct{}

// autoscaler finds what owns the target's replicas.
func (s *spreading) autoscaler() *resource.Resource {
	return scalers(s.c.Facts)[s.c.Facts.IDOf(s.target)]
}

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

// admits reports whether the webhook would look at the target's pods at all
// (docs/kruise/distribution.md#workloadspread: a targetFilter without selector matches none).
func (s *spreading) admits() (bool, error) {
	f := s.spec.TargetFilter
	if f == nil {
		return true, nil
	}
	if f.Selector == nil {
		s.report("workloadspread/filter-none", "spec.targetFilter", "it has no selector")
		return false, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(f.Selector)
	if err != nil {
		return false, s.r.Fault("spec.targetFilter.selector", "", "%v", err)
	}
	set := labels.Set(tree.Strings(tree.Get(s.template, "metadata", "labels")))
	if !selector.Matches(set) {
		s.report("workloadspread/filter-none", "spec.targetFilter.selector", "it does not take pods with the labels "+set.String())
		return false, nil
	}
	s.report("workloadspread/filter-selector", "spec.targetFilter.selector", "")
	return true, nil
}
