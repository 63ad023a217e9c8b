package plan

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Surge is what maxSurge makes of an update that is possible in place: the controller creates surge
// pods of the new revision and then deletes as many old ones, whatever the policy is
// (docs/kruise/workloads.md#how-many-pods).
type Surge struct {
	// Pods are how many pods the update reaches, Recreated how many of them surge pods replace.
	Pods, Recreated int
	// MaxSurge is as written, Claims are the claim templates whose claims go with the deleted pods.
	MaxSurge string
	Claims   []string
}

// String is a sentence; it is empty where no pod is recreated.
func (s Surge) String() string {
	if s.Recreated == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %s %s recreated although the change is possible in place: with maxSurge %s new pods take the place of old ones", s.Recreated, counted.Of(s.Pods, "pod"), counted.Word(s.Recreated, "is", "are"), s.MaxSurge)
	if len(s.Claims) > 0 {
		text += ", which are deleted with " + counted.Of(s.Recreated*len(s.Claims), "claim") + " (" + strings.Join(s.Claims, ", ") + ")"
	}
	return text
}

// SurgeOf returns what becomes of the pods of a workload when the desired object is written as it is.
// Its pods are taken to be replicas ones of the old template, all available.
func SurgeOf(old, desired *cluster.Workload, replicas int, gates cluster.Gates) Surge {
	set, ok := desired.Object.(*kruise.CloneSet)
	mode := rules.Change(old, desired, rules.PolicyOf(desired.Object), gates).Mode
	if !ok || mode != rules.ModeInPlace && mode != rules.ModeMetadataOnly || !surgesNow(set) || replicas <= 0 {
		return Surge{}
	}
	old, desired = WithPods(old, replicas), WithPods(desired, replicas)
	stored := cluster.Revision{Name: old.Name + "-before", Template: old.Template}
	s := Snapshot{Workload: old, Gates: gates, Revisions: []cluster.Revision{stored}, Pods: availablePods(replicas, stored.Name, set.Spec.Template.Labels)}
	b := newBuilder(desired, old, s, Policy{})
	b.plan.Driver = DriverKruise
	b.compareTemplates()
	b.subject = b.readSubject()
	if b.subject.take == nil {
		return Surge{}
	}
	_, reach := b.updatableRange()
	return surgeOf(b.desired, b.subject.take(reach))
}

// surgesNow reports whether a CloneSet creates surge pods: a paused one does not.
func surgesNow(set *kruise.CloneSet) bool {
	return rules.LimitsOfCloneSet(&set.Spec).MaxSurge > 0 && !rules.PausedOf(set) && cluster.Of(set).Strategy() != onDelete
}

// surgeOf counts what an update does to the pods that it reaches.
func surgeOf(desired *cluster.Workload, pods []PodStep) Surge {
	set, ok := desired.Object.(*kruise.CloneSet)
	if !ok {
		return Surge{}
	}
	s := Surge{Pods: len(pods), Claims: rules.ClaimNames(set)}
	for _, p := range pods {
		s.Recreated += boolToInt(p.Why == surplusReason)
	}
	if r := set.Spec.UpdateStrategy.RollingUpdate; r != nil && r.MaxSurge != nil {
		s.MaxSurge = r.MaxSurge.String()
	}
	return s
}

// availablePods are pods of one revision.
func availablePods(n int, revision string, labels map[string]string) []*cluster.Pod {
	var out []*cluster.Pod
	for i := range n {
		own := map[string]string{}
		maps.Copy(own, labels)
		own[cluster.RevisionLabel] = revision
		name := "pod-" + strconv.Itoa(i)
		out = append(out, &cluster.Pod{
			Name: name, UID: name, Node: name, Labels: own, Phase: corev1.PodRunning, ReadinessGates: []string{kruise.InPlaceUpdateReady},
			Conditions: []cluster.Condition{{Type: string(corev1.PodReady), Status: corev1.ConditionTrue}},
		})
	}
	return out
}

// Counts are how many pods the steps of a plan recreate, and how many stay.
func (p *Plan) Counts() (recreated, kept int) {
	for i := range p.Steps {
		for _, pod := range p.Steps[i].Pods {
			switch pod.Mode {
			case rules.ModeRecreate:
				recreated++
			case rules.ModeInPlace, rules.ModeMetadataOnly:
				kept++
			}
		}
	}
	return recreated, kept
}

// Reason is why pods change as they do. Where the change is possible in place, it counts the pods that
// the steps recreate nevertheless.
func (p *Plan) Reason() string {
	recreated, kept := p.Counts()
	if recreated == 0 || p.Change.Mode != rules.ModeInPlace && p.Change.Mode != rules.ModeMetadataOnly {
		return p.Change.Why
	}
	return fmt.Sprintf("%s, but %d of %s recreated", p.Change.Why, recreated, counted.PodsAre(recreated+kept))
}

// warnSurge reports which pods are recreated although the change is possible in place, and which
// way recreates fewer.
func (b *reviewer) warnSurge() {
	if m := b.plan.Change.Mode; m != rules.ModeInPlace && m != rules.ModeMetadataOnly {
		return
	}
	var pods []PodStep
	stages := 0
	for i := range b.plan.Steps {
		if n := len(b.plan.Steps[i].Pods); n > 0 {
			pods = append(pods, b.plan.Steps[i].Pods...)
			stages++
		}
	}
	s := surgeOf(b.desired, pods)
	text := s.String()
	if text == "" {
		return
	}
	if stages > 1 && s.Recreated > b.subject.limits.MaxSurge {
		text += fmt.Sprintf("; each step surges again, so one step (--steps 100%%) recreates %d", min(b.subject.limits.MaxSurge, s.Pods))
	}
	b.warning("%s; with maxSurge 0 none is", text)
}
