package rules

import (
	"fmt"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// UpdateMode is what a change of template does to a pod.
type UpdateMode string

// The modes.
const (
	// ModeUnchanged: the templates agree.
	ModeUnchanged UpdateMode = "unchanged"
	// ModeInPlace: containers restart inside the pod.
	ModeInPlace UpdateMode = "inPlace"
	// ModeMetadataOnly: labels and annotations change, nothing restarts.
	ModeMetadataOnly UpdateMode = "metadataOnly"
	// ModeRecreate: the pod is deleted and recreated.
	ModeRecreate UpdateMode = "recreate"
	// ModeNotAllowed: the policy forbids recreation; the rollout would stand.
	ModeNotAllowed UpdateMode = "notAllowed"
)

// UpdatePolicy is how a workload may update a pod: podUpdatePolicy of CloneSet
// and Advanced StatefulSet; an Advanced DaemonSet's Standard is PolicyRecreate.
type UpdatePolicy string

// The policies; an empty one is PolicyRecreate.
const (
	PolicyRecreate          UpdatePolicy = "ReCreate"
	PolicyInPlaceIfPossible UpdatePolicy = "InPlaceIfPossible"
	PolicyInPlaceOnly       UpdatePolicy = "InPlaceOnly"
)

// Effect is what one changed field asks for.
type Effect string

// The effects.
const (
	EffectImage     Effect = "image"
	EffectMetadata  Effect = "metadata"
	EffectEnv       Effect = "envFromMetadata"
	EffectResources Effect = "resources"
	EffectRecreate  Effect = "recreate"
)

// FieldChange is one field in which the templates differ, and what follows.
type FieldChange struct {
	// Path is below the template: spec.containers[0].image.
	Path string
	// Old and New are nil where there is nothing; what is likely to be secret
	// in them is [mask.Masked].
	Old, New any
	Effect   Effect
	// Restarts are the containers that restart for it.
	Restarts []string
	// Why says in a few words what decides.
	Why string
}

// TemplateChange is the question: from which revision to which.
type TemplateChange struct {
	Old, New cluster.Revision
	Policy   UpdatePolicy
	Gates    cluster.Gates
}

// Eligibility is the answer for all pods at the old revision; see
// [Eligibility.ForPod] for one pod.
type Eligibility struct {
	Mode UpdateMode
	// Fields are all differences, in the order of their paths.
	Fields []FieldChange
	// Restarts are the containers that restart in place, in the order of the
	// spec.
	Restarts []string
	Policy   UpdatePolicy
	// Why is the deciding reason.
	Why string
}

// Eligible says whether a change of template can be made in place: every
// difference must be one that a running pod can take
// (docs/kruise/workloads.md#when-a-change-is-possible-in-place).
func (c TemplateChange) Eligible() Eligibility {
	e := Eligibility{Policy: c.Policy, Fields: c.fields()}
	c.checkQOS(e.Fields)
	e.Restarts = restarts(e.Fields, c.New.Template)
	blocking := slices.IndexFunc(e.Fields, func(f FieldChange) bool { return f.Effect == EffectRecreate })
	switch {
	case len(e.Fields) == 0:
		e.Mode, e.Why = ModeUnchanged, "the templates agree"
	case c.Policy == "" || c.Policy == PolicyRecreate:
		e.Mode, e.Why = ModeRecreate, "the update policy is ReCreate"
	case blocking >= 0:
		e.refuse(fmt.Sprintf("%s: %s", e.Fields[blocking].Path, e.Fields[blocking].Why))
	case c.claimsForbid():
		e.refuse("the volume claim templates changed, and the gate RecreatePodWhenChangeVCTInCloneSetGate is on")
	case len(e.Restarts) == 0 && !slices.ContainsFunc(e.Fields, touchesContainer):
		e.Mode, e.Why = ModeMetadataOnly, "only labels and annotations change, nothing restarts"
	default:
		e.Mode, e.Why = ModeInPlace, "every changed field can change in a running pod"
	}
	return e
}

// refuse ends the question as the policy has it.
func (e *Eligibility) refuse(why string) {
	e.Mode, e.Why = ModeRecreate, why
	if e.Policy == PolicyInPlaceOnly {
		e.Mode = ModeNotAllowed
	}
}

func (c TemplateChange) claimsForbid() bool {
	return c.Gates.RecreatePodWhenChangeVCT && c.Policy != PolicyInPlaceOnly && c.Old.ClaimsHash != c.New.ClaimsHash
}

func touchesContainer(f FieldChange) bool { return f.Effect != EffectMetadata }

// ForPod returns the mode for one pod: its own revision must still be there to
// compare with, and a DaemonSet also needs the readiness gate on the pod, which
// those made under Standard lack (docs/kruise/workloads.md#when-a-change-is-possible-in-place and
// docs/kruise/workloads.md#advanced-daemonset).
func (e Eligibility) ForPod(p *cluster.Pod, hasRevision, needsGate bool) (UpdateMode, string) {
	if e.Mode != ModeInPlace && e.Mode != ModeMetadataOnly {
		return e.Mode, e.Why
	}
	switch {
	case !hasRevision:
		e.refuse(fmt.Sprintf("revision %s of pod %s does not exist any more", or(RevisionOf(p), "(none)"), p.Name))
	case needsGate && !slices.Contains(p.ReadinessGates, inPlaceGate):
		e.refuse(fmt.Sprintf("pod %s has no readiness gate %s", p.Name, inPlaceGate))
	}
	return e.Mode, e.Why
}

// HasInPlaceGate reports whether the pod leaves its Services while it is updated in
// place.
func HasInPlaceGate(p *cluster.Pod) bool { return slices.Contains(p.ReadinessGates, inPlaceGate) }
