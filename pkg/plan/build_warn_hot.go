package plan

import "github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"

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
				b.warning("sidecar %s is exchanged hot: its new image starts beside the old one, which is emptied when the new one is ready; such a pod restarts one idle container, twice", h.sidecar)
			}
		}
		return
	}
}
