package stage

import (
	"errors"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// separable are the kinds of Kruise that change no other object of the output. Without the others
// the rest would be rendered as something else: pods without sidecars, or without their subset.
var separable = []string{
	kruise.KindAdvancedCronJob, kruise.KindBroadcastJob, kruise.KindCloneSet, kruise.KindContainerRecreateRequest,
	kruise.KindDaemonSet, kruise.KindEphemeralJob, kruise.KindImageListPullJob, kruise.KindImagePullJob,
	kruise.KindResourceDistribution, kruise.KindStatefulSet,
}

// Leave reports whether the object leaves the output because of err, and adds the findings
// about it. It does not where err is about other objects or a limit, or other objects depend on this one.
func (c *Context) Leave(r *resource.Resource, err error) bool {
	if !c.LeaveOut || err == nil || r.Group() != kruise.Group || !slices.Contains(separable, r.Kind()) {
		return false
	}
	var all resource.Errors
	all.Add(err)
	faults := make([]*resource.Error, 0, len(all))
	for _, one := range all {
		e, ok := errors.AsType[*resource.Error](one)
		if !ok || e.Limit || e.Object != r.ID() {
			return false
		}
		faults = append(faults, e)
	}
	for _, e := range faults {
		c.Findings.Refused(r, e)
	}
	c.Lineage.Became(r.ID())
	return true
}
