package plan

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// warnHot says which sidecars the client exchanges while they work: their new image
// starts in another container than the one that the change names.
func (b *builder) warnHot() {
	if b.plan.Driver != DriverClient || b.plan.Change.Mode != rules.ModeInPlace {
		return
	}
	for _, p := range b.snap.Pods {
		if !rules.Active(p) {
			continue
		}
		for _, h := range hotPairs(b.desired.Template, p) {
			if !h.current(p) {
				b.warning(exchangedHot, h.sidecar)
			}
		}
		return
	}
}

// exchangedHot is what a plan says of a sidecar that is upgraded hot.
const exchangedHot = "sidecar %s is exchanged hot: its new image starts beside the old one, which is emptied when the new one is ready; such a pod restarts one idle container, twice"

// restarted leaves out the sidecars that a SidecarSet upgrades hot: the one that works is
// not restarted (docs/kruise/sidecarset.md#hot-upgrade).
func (b *builder) restarted(names []string) []string {
	o, ok := b.desired.Object.(*kruise.SidecarSet)
	if !ok {
		return names
	}
	var out []string
	for _, name := range names {
		hot := slices.ContainsFunc(o.Spec.Containers, func(c kruise.SidecarContainer) bool {
			return c.Name == name && c.UpgradeStrategy.UpgradeType == kruise.SidecarContainerHotUpgrade
		})
		if !hot {
			out = append(out, name)
			continue
		}
		b.warning(exchangedHot, name)
	}
	return out
}
