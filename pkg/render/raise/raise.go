// Package raise is the opposite of lowering: native workloads and budgets become
// those of Kruise that do the same, in the newest version of their kinds. It
// changes the tree that the user wrote, so that templates, comments and unknown
// fields stay; types are for deciding.
package raise

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Options choose what the native kinds cannot say. The zero value keeps what
// they do.
type Options struct {
	// PodUpdatePolicy is ReCreate (the default), InPlaceIfPossible or InPlaceOnly.
	PodUpdatePolicy kruise.PodUpdateStrategyType
	// ProtectOperations are what a PodUnavailableBudget refuses; EVICT when empty.
	ProtectOperations []kruise.PubOperation
}

func (o Options) inPlace() bool {
	return o.PodUpdatePolicy != "" && o.PodUpdatePolicy != kruise.RecreatePodUpdateStrategyType
}

// raisings are the kinds that this package knows, by apiVersion and kind.
var raisings = map[[2]string]func(object) (*tree.Node, error){
	{"apps/v1", kruise.KindDeployment}:   raiseDeployment,
	{"apps/v1", kruise.KindStatefulSet}:  raiseStatefulSet,
	{"apps/v1", kruise.KindDaemonSet}:    raiseDaemonSet,
	{"batch/v1", "CronJob"}:              raiseCronJob,
	{"policy/v1", "PodDisruptionBudget"}: raiseBudget,
}

// Chosen replaces the native objects that are chosen by those of Kruise. Chosen
// objects that it does not know, or not in their version, are faults.
func Chosen(c *stage.Context, in []*resource.Resource, chosen func(*resource.Resource) bool, opt Options) ([]*resource.Resource, error) {
	scaled := autoscaled(c, in)
	return c.Replace(in, func(r *resource.Resource) ([]*resource.Resource, error) {
		if !chosen(r) {
			return []*resource.Resource{r}, nil
		}
		raise := raisings[[2]string{r.APIVersion(), r.Kind()}]
		if raise == nil {
			return nil, r.Fault("apiVersion", "write it in the version that Kubernetes serves today", "%s %s cannot be converted to a kind of Kruise", r.APIVersion(), r.Kind())
		}
		n, err := raise(object{c: c, r: r, opt: opt, scaled: scaled[c.Facts.IDOf(r)]})
		if err != nil {
			return nil, err
		}
		out := resource.Derived(n, r)
		c.Lineage.Became(r.ID(), out)
		return []*resource.Resource{out}, nil
	})
}

// autoscaled are the objects whose replicas an autoscaler owns.
func autoscaled(c *stage.Context, in []*resource.Resource) map[resource.ID]bool {
	out := map[resource.ID]bool{}
	scalers := slices.Concat(in, c.Facts.Context("autoscaling", "HorizontalPodAutoscaler"), c.Facts.Context("keda.sh", "ScaledObject"))
	for _, r := range scalers {
		ref := tree.Get(r.Node(), "spec", "scaleTargetRef")
		if ref == nil {
			continue
		}
		id := resource.ID{
			Group: resource.GroupOf(tree.StrAt(ref, "apiVersion")), Kind: tree.StrAt(ref, "kind"),
			Namespace: c.Facts.NamespaceOf(r), Name: tree.StrAt(ref, "name"),
		}
		if id.Kind == "" { // which KEDA takes for a Deployment
			id.Group, id.Kind = "apps", kruise.KindDeployment
		}
		out[id] = true
	}
	return out
}
