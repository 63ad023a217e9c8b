package lower

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// daemonSet is one Advanced DaemonSet that becomes a DaemonSet.
type daemonSet struct {
	object
	spec   kruise.DaemonSetSpec
	client bool
}

// lowerDaemonSet returns what the Advanced DaemonSet r becomes. Kruise's webhook
// leaves its template alone, so pull policies stay as they are.
func lowerDaemonSet(c *stage.Context, _ *relatedObjects, r *resource.Resource) ([]*resource.Resource, error) {
	var set kruise.DaemonSet
	o, err := newObject(c, r, "daemonset", &set)
	if err != nil {
		return nil, err
	}
	d := &daemonSet{object: o, spec: set.Spec, client: c.Driver == stage.Client}
	d.writeSurging()
	out := resource.Derived(d.native("apps/v1", kruise.KindDaemonSet, d.nativeSpec), r)
	d.reportFields()
	c.Lineage.Became(r.ID(), out)
	return []*resource.Resource{out}, nil
}

// writeSurging writes out the numbers that v1alpha1's Surging means, as Kruise's
// webhook does: the type itself does not exist in the newest version.
func (d *daemonSet) writeSurging() {
	path := []string{"spec", "updateStrategy", "rollingUpdate"}
	if tree.StrAt(d.r.Node(), append(path, "rollingUpdateType")...) != "Surging" || tree.Get(d.hub, append(path, "maxSurge")...) != nil || d.rolling().MaxSurge == nil {
		return
	}
	d.hub = tree.Shallow(d.hub)
	n := d.hub
	for _, key := range path {
		below := tree.Shallow(tree.Get(n, key))
		tree.Set(n, key, below)
		n = below
	}
	tree.Set(n, "maxSurge", intOrStringNode(*d.rolling().MaxSurge))
	tree.Set(n, "maxUnavailable", tree.Int64(0))
}

// nativeSpec returns the spec of the DaemonSet.
func (d *daemonSet) nativeSpec(spec *tree.Node) *tree.Node {
	out := stage.Fields(spec, func(name string, v *tree.Node) (string, *tree.Node) {
		switch name {
		case "template":
			return name, d.template(v)
		case "updateStrategy":
			return name, d.strategy()
		case "lifecycle", "scaleStrategy", "burstReplicas":
			return name, nil
		default:
			return name, v
		}
	})
	if !tree.Has(out, "updateStrategy") && d.client {
		tree.InsertAfter(out, "selector", "updateStrategy", d.strategy())
	}
	return out
}

// strategy returns the update strategy of the DaemonSet. Both kinds take
// percentages of the nodes that should run a pod, rounded up, and default to one
// unavailable pod.
func (d *daemonSet) strategy() *tree.Node {
	if d.client || d.onDelete() || d.paused() {
		return tree.Map("type", "OnDelete")
	}
	rolling := tree.Map()
	surge, unavailable := d.rolling().MaxSurge, d.rolling().MaxUnavailable
	if surge != nil && !isZero(*surge) {
		tree.Set(rolling, "maxSurge", intOrStringNode(*surge))
		tree.Set(rolling, "maxUnavailable", tree.Int64(0))
	} else if unavailable != nil {
		tree.Set(rolling, "maxUnavailable", intOrStringNode(*unavailable))
	}
	out := tree.Map("type", "RollingUpdate")
	if len(rolling.Content) > 0 {
		tree.Set(out, "rollingUpdate", rolling)
	}
	return out
}

func (d *daemonSet) onDelete() bool {
	return d.spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType
}

func (d *daemonSet) paused() bool {
	return d.rolling().Paused != nil && *d.rolling().Paused
}

// rolling is the source's rollingUpdate, empty when it has none or ignores it.
func (d *daemonSet) rolling() kruise.RollingUpdateDaemonSet {
	if r := d.spec.UpdateStrategy.RollingUpdate; r != nil && !d.onDelete() {
		return *r
	}
	return kruise.RollingUpdateDaemonSet{}
}

// daemonSetFields are reported when they have an effect.
var daemonSetFields = []fieldRule{
	{"spec.selector", "daemonset/selector", "daemonset/selector"},
	{"spec.template", "daemonset/template", "daemonset/template"},
	{"spec.minReadySeconds", "daemonset/min-ready-seconds", "daemonset/min-ready-seconds"},
	{"spec.revisionHistoryLimit", "daemonset/revision-history", "daemonset/revision-history"},
	{"spec.lifecycle", "daemonset/lifecycle", "daemonset/lifecycle-client"},
	{"spec.burstReplicas", "daemonset/burst", "daemonset/burst"},
	{"spec.scaleStrategy.partitionedScaling", "daemonset/partitioned-scaling", "daemonset/partitioned-scaling"},
	{"spec.updateStrategy.type", "daemonset/type", "daemonset/type"},
}

// daemonSetRollingFields are reported unless the type is OnDelete.
var daemonSetRollingFields = []fieldRule{
	{rollingUpdate + "selector", "daemonset/node-selector", "daemonset/node-selector-client"},
	{rollingUpdate + "maxSurge", "daemonset/max-surge", "daemonset/max-surge-client"},
	{rollingUpdate + "maxUnavailable", "daemonset/max-unavailable", "daemonset/max-unavailable-client"},
	{rollingUpdate + "paused", "daemonset/paused", "daemonset/paused-client"},
}

func (d *daemonSet) reportFields() {
	d.reportWritten(daemonSetFields, d.client)
	if d.onDelete() {
		return
	}
	d.reportWritten(daemonSetRollingFields, d.client)
	if p := d.rolling().Partition; p != nil && !isZero(*p) {
		d.reportWritten([]fieldRule{{rollingUpdate + "partition", "daemonset/partition", "daemonset/partition-client"}}, d.client)
	}
	if d.rolling().RollingUpdateType == kruise.InPlaceIfPossibleRollingUpdateType {
		d.reportWritten([]fieldRule{{rollingUpdate + "rollingUpdateType", "daemonset/in-place", "daemonset/in-place-client"}}, d.client)
	} else if d.rolling().RollingUpdateType != "" {
		d.report("daemonset/recreate", rollingUpdate+"rollingUpdateType", "")
	}
}
