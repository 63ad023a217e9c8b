// Package rules decides what the controllers of Kruise and Kubernetes do next, and why: every rule
// is a pure function over what is known, and each kind of workload has its files. The planner, the
// client driver and the simulated controllers all use these rules, so a preview cannot differ from
// what happens.
//
// Rules know no clock (now is an argument), no files and no cluster. They never change their input
// and never fail on odd values: a controller does not refuse what its webhook let through, so each
// rule returns what the controller does with it. Where Kruise's choice is arbitrary, pods come in
// the order of their names, and the result has the pods that are interchangeable.
package rules

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Active reports whether a controller sees the pod at all: a terminating or
// finished pod is gone for all counts (docs/kruise/workloads.md#which-pods-count).
func Active(p *cluster.Pod) bool {
	return !p.Deleting && p.Phase != corev1.PodSucceeded && p.Phase != corev1.PodFailed
}

// Ready reports whether the pod runs and is ready, and no in-place update holds
// it back (docs/kruise/workloads.md#which-pods-count).
func Ready(p *cluster.Pod) bool {
	if p.Phase != corev1.PodRunning || !podReady(p) {
		return false
	}
	return !p.GateShut()
}

// Available reports whether the pod counts as available: ready, in no other
// lifecycle state than Normal, and ready for more than minReady; 0 means at
// once (docs/kruise/workloads.md#which-pods-count).
func Available(p *cluster.Pod, minReady time.Duration, now time.Time) bool {
	if s := StateOf(p); s != StateNone && s != StateNormal {
		return false
	}
	return Ready(p) && ReadyFor(p, minReady, now)
}

// SpecifiedDelete reports whether the pod was marked for deletion, whatever
// the label's value (docs/kruise/workloads.md#which-pods-count).
func SpecifiedDelete(p *cluster.Pod) bool {
	return p.Marked()
}

// AtRevision reports whether the pod carries the revision; names of revisions
// are compared by their hash (docs/kruise/workloads.md#revisions).
func AtRevision(p *cluster.Pod, revision string) bool {
	return cluster.Hash(RevisionOf(p)) == cluster.Hash(revision)
}

// RevisionOf returns the pod's revision as its label spells it.
func RevisionOf(p *cluster.Pod) string { return p.Revision() }

// podReady is the condition Ready alone.
func podReady(p *cluster.Pod) bool { return p.IsReady() }

// ReadyFor reports whether the condition Ready is older than minReady, as it
// is in the status, in whole seconds; 0 means at once.
func ReadyFor(p *cluster.Pod, minReady time.Duration, now time.Time) bool {
	if minReady <= 0 {
		return true
	}
	return p.ReadySince().Add(minReady).Before(now)
}

// nextAged is when the next of the pods will have been ready for minReady, zero for never.
func nextAged(list []*cluster.Pod, minReady time.Duration, now time.Time) (next time.Time) {
	if minReady <= 0 {
		return next
	}
	for _, p := range list {
		if at := p.ReadySince().Add(minReady); !at.Before(now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }

// FindRevision returns the stored revision with this template, the newest if
// there are several. A workload whose template equals an older revision goes
// back to that one, under its old name; any other difference in spec.template,
// labels and annotations included, makes a new one (docs/kruise/workloads.md#revisions).
func FindRevision(list []cluster.Revision, template map[string]any) (cluster.Revision, bool) {
	var best cluster.Revision
	found := false
	for _, r := range list {
		if SameTemplate(r.Template, template) && (!found || r.Number > best.Number) {
			best, found = r, true
		}
	}
	return best, found
}

// SameTemplate reports whether two templates make the same revision. Nulls and
// metadata.creationTimestamp, which some serializers write, do not count. What
// has no spec is no pod template, but what a SidecarSet puts into pods.
func SameTemplate(a, b map[string]any) bool {
	return tree.Same(revisable(a), revisable(b))
}

func revisable(template map[string]any) map[string]any {
	if _, pod := template["spec"]; pod {
		return withMetadata(template)
	}
	return template
}

// NextRevisionNumber is the number of a revision that is made or reused now.
func NextRevisionNumber(list []cluster.Revision) int64 {
	var most int64
	for _, r := range list {
		most = max(most, r.Number)
	}
	return most + 1
}

// CloneSetCurrent returns what status.currentRevision becomes: the update
// revision once every pod carries it, ready or not, and until then the one it
// was, whatever comes between (docs/kruise/workloads.md#revisions).
func CloneSetCurrent(current, update string, updated, total, replicas int) string {
	if current == "" || (updated == total && total == replicas) {
		return update
	}
	return current
}
