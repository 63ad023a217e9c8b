package plan

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// modes answers for each pod what the change does to it. Pods of an older
// revision than the present one come from that: the question is asked once per
// revision.
type modes struct {
	byRevision map[string]rules.Eligibility
	// whole is the answer where pods are not told apart by revision.
	whole     rules.Eligibility
	needsGate bool
	// lost reports a pod that no template is known of; nil where there is none.
	lost func(*cluster.Pod) bool
	// gateless counts pods that are recreated for lack of a readiness gate.
	gateless int
}

func newModes(b *builder, whole rules.Eligibility) modes {
	m := modes{byRevision: map[string]rules.Eligibility{}, whole: whole}
	_, m.needsGate = b.present.Object.(*kruise.DaemonSet)
	if b.plan.Driver == DriverClient && b.present.Kind == kruise.KindReplicaSet {
		m.lost = b.stranger
	}
	if _, sidecars := b.present.Object.(*kruise.SidecarSet); sidecars || len(b.snap.Revisions) == 0 {
		return m
	}
	before := *b.present
	for _, r := range b.snap.Revisions {
		before.Template = r.Template
		m.byRevision[cluster.Hash(r.Name)] = rules.Change(&before, b.desired, whole.Policy, b.snap.Gates)
	}
	return m
}

// of returns mode and reason for one pod, and counts those without a readiness gate.
func (m *modes) of(p *cluster.Pod) (rules.UpdateMode, string) {
	mode, why, gateless := m.ask(p)
	if gateless {
		m.gateless++
	}
	return mode, why
}

// mode is what of returns, for one who asks about the same pod again and again.
func (m *modes) mode(p *cluster.Pod) rules.UpdateMode {
	mode, _, _ := m.ask(p)
	return mode
}

func (m *modes) ask(p *cluster.Pod) (_ rules.UpdateMode, why string, gateless bool) {
	e, known := m.whole, true
	if m.lost != nil && m.lost(p) {
		return rules.ModeRecreate, "the template that it was made from is not known", false
	}
	if len(m.byRevision) > 0 {
		if e, known = m.byRevision[cluster.Hash(rules.RevisionOf(p))]; !known {
			e = m.whole
		}
	}
	mode, why := e.ForPod(p, known, m.needsGate)
	return mode, why, mode != e.Mode && known
}
