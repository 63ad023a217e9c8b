package plan

import (
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// kind is what planning and running a rollout differ in between kinds of workload.
// Each kind answers in a file of its own, kind_*.go. What merely reads or writes a
// field is [cluster.Typed].
type kind interface {
	// drivers are who could replace the pods, the default first.
	drivers() []Driver
	// subject reads the workload whose own controller replaces the pods.
	subject(b *comparison) subject
	// clientSpec is the spec of Kruise whose rules the client keeps; sourceObject is the Kruise
	// object that the workload was rendered from, nil for none. clientSpec is nil for kinds whose
	// pods the client does not update.
	clientSpec(sourceObject any) kruiseSpec
	// restartSpec is the spec of Kruise whose update order counts for restarts: without
	// partition and pause, which are about updates. It is nil for kinds without an order.
	restartSpec(sourceObject any) kruiseSpec

	// memberTest distinguishes the pods of a snapshot that the workload counts; nil where these are
	// all of them.
	memberTest(s *Snapshot) func(*cluster.Pod) bool
	// isUpdated reports whether a pod has the new template of a plan.
	isUpdated(b *comparison, p *cluster.Pod) bool
	// updatedTest distinguishes the pods that are up to date while the rollout runs.
	updatedTest(r *rollout) func(*cluster.Pod) bool
	// revision is the name that the pods of the present template carry, where the client
	// updates them; empty while it is not known.
	revision(r *rollout) string
	// choice asks the rules what the next pass of the controller does. A brief answer may
	// lack Order, which costs sorting all pods; mostNext is how many Pods it has at most.
	choice(b *comparison, now time.Time, brief bool) rules.Choice
	mostNext(b *comparison) int
	// stepPending is what a step waits for, rolloutPending what a whole rollout does.
	stepPending(r *rollout) rules.Pending
	rolloutPending(r *rollout) rules.Pending

	// stop is the field that keeps the controller from updating further pods, with its
	// value, see [Stop]; "" where nothing has to be written. Strategies that wait for
	// deletions are not asked.
	stop(r *rollout) (StopField, string)

	// surges reports whether a Kruise object allows more pods than replicas.
	surges() bool
	// ordering are fields of a Kruise object that choose which pods go first.
	ordering() []string

	// revised is what revisions are made of, out of the workload's Template.
	revised(template map[string]any) map[string]any
	// withTemplate is the Template and the object with what a revision holds.
	withTemplate(whole, stored map[string]any) (map[string]any, any, error)
}

// kindOf is the kind of a typed object. What is no workload is treated as one that
// only its own controller knows.
func kindOf(obj any) kind {
	if k := cluster.By(obj, cluster.Kinds[kind](kinds{})); k != nil {
		return k
	}
	return anyKind{obj}
}

// kinds has the kind of each workload; its methods are in the files of the kinds.
type kinds struct{}

// anyKind has what most kinds of Kubernetes answer: pods carry the revision in a label, revisions
// are made of spec.template, and there are no fields of Kruise. An object that is no workload has
// these answers, too.
type anyKind struct{ obj any }

func (anyKind) drivers() []Driver                                { return []Driver{DriverNative} }
func (anyKind) subject(*comparison) subject                      { return subject{} }
func (anyKind) clientSpec(any) kruiseSpec                        { return nil }
func (anyKind) restartSpec(any) kruiseSpec                       { return nil }
func (anyKind) memberTest(*Snapshot) func(*cluster.Pod) bool     { return nil }
func (anyKind) revision(*rollout) string                         { return "" }
func (anyKind) choice(*comparison, time.Time, bool) rules.Choice { return rules.Choice{} }
func (anyKind) mostNext(b *comparison) int                       { return len(b.snap.Pods) }
func (anyKind) stepPending(*rollout) rules.Pending               { return nil }
func (anyKind) rolloutPending(*rollout) rules.Pending            { return nil }
func (anyKind) stop(*rollout) (StopField, string)                { return "", "" }
func (anyKind) surges() bool                                     { return false }
func (anyKind) ordering() []string                               { return nil }
func (anyKind) revised(template map[string]any) map[string]any   { return template }

func (anyKind) isUpdated(b *comparison, p *cluster.Pod) bool {
	return rules.AtRevision(p, b.updateRevision())
}

func (anyKind) updatedTest(r *rollout) func(*cluster.Pod) bool {
	return atRevision(r.storedRevision())
}

func (k anyKind) withTemplate(_, stored map[string]any) (map[string]any, any, error) {
	typed := cluster.Of(k.obj)
	if typed.Template() == nil {
		return nil, nil, fmt.Errorf("%T has no template", k.obj)
	}
	template, err := decodedTemplate(stored)
	return stored, typed.WithTemplate(template), err
}

// kruiseKind is for kinds of Kruise: only Kruise's controller replaces their pods.
type kruiseKind struct{ anyKind }

func (kruiseKind) drivers() []Driver { return []Driver{DriverKruise} }

func (k kruiseKind) updatedTest(*rollout) func(*cluster.Pod) bool {
	return atRevision(cluster.Of(k.obj).UpdateRevision())
}

// kruiseSpec is the spec of a Kruise kind by whose rules pods are chosen one by one.
type kruiseSpec interface {
	// subject reads the workload whose pods the client replaces.
	subject(b *comparison) subject
	// inPlace is how pods are updated in place; nil for no wish.
	inPlace() *kruise.InPlaceUpdateStrategy
	// lifecycle are the hooks that the client keeps.
	lifecycle() *kruise.Lifecycle
	// updateOrder is the one in which an update of all pods would take those that it reaches.
	updateOrder(b *comparison) []*cluster.Pod
	// nextPods are the pods to update now, and why no more are.
	nextPods(c *client) ([]*cluster.Pod, string)
	// countedPods are the pods among which so many updated ones count.
	countedPods(r *rollout, updated int) []*cluster.Pod
}
