package plan

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Build makes the plan that brings a workload to what is desired. desired is
// complete, defaults included, and of the kind of the snapshot's carrier where
// there is one: what it does not say is to be removed, so a caller who reads a
// manifest without replicas fills in those of the cluster first. Where nothing is
// to be done the plan has no steps, and Change.Why says so.
//
// The pods that steps name are those that the controllers would choose if nothing
// else happened; how many each step updates holds in any case.
func Build(desired *cluster.Workload, s Snapshot, policy Policy) (Plan, error) {
	b := &builder{desired: desired, snap: s, policy: policy}
	if err := b.check(); err != nil {
		return Plan{}, err
	}
	b.released()
	if err := b.chooseDriver(); err != nil {
		return Plan{}, err
	}
	b.compare()
	if err := b.build(); err != nil {
		return Plan{}, err
	}
	b.warn()
	return b.plan, nil
}

// builder holds what the steps are made from.
type builder struct {
	desired *cluster.Workload
	// present is what desired takes the place of: the carrier or the workload.
	present *cluster.Workload
	// of is the kind of present, once a pod has asked for it: each pod does.
	of     kind
	snap   Snapshot
	policy Policy
	plan   Plan
	sub    subject
	// changed is whether the template changes, respecified whether anything else
	// of the spec does but replicas and partition.
	changed, respecified bool
	modes                modes
}

// subject is what one kind of workload makes of a rollout.
type subject struct {
	// total is how many pods there are while it lasts, updated how many of them
	// carry the new template already.
	total, updated int
	// left is how many pods a selector of the update strategy leaves out, leftNow how
	// many that of the present strategy does.
	left, leftNow int
	limits        Limits
	// partition returns what lets exactly so many pods be updated, as a percentage
	// where that is asked for and comes to the same; nil where the kind has no
	// partition in force.
	partition func(updated int, percent bool) intstr.IntOrString
	// allowed is how many pods a partition lets be updated.
	allowed func(partition intstr.IntOrString) int
	// take returns the next n pods that the update reaches.
	take func(n int) []PodStep
	// approximate is true for a Deployment, which stops near a number of pods.
	approximate bool
}

// check refuses what no plan can be made for.
func (b *builder) check() error {
	b.present = b.snap.Object()
	if b.desired == nil || b.present == nil || b.desired.Object == nil || b.present.Object == nil {
		return &tree.Error{Msg: "there is nothing to compare with", Hint: "a rollout changes a workload that is there: create it first"}
	}
	if d, p := b.desired.Ref, b.present.Ref; d != p {
		return &tree.Error{Msg: fmt.Sprintf("%s cannot become %s", title(p), title(d)), Hint: "a plan is for one object: give the same kind, namespace and name on both sides"}
	}
	if b.desired.UID != "" && b.present.UID != "" && b.desired.UID != b.present.UID {
		return &tree.Error{Path: "metadata.uid", Msg: title(b.present.Ref) + " was deleted and created again", Hint: "look at it again and make a new plan"}
	}
	if metaOf(b.present).GetDeletionTimestamp() != nil {
		return &tree.Error{Msg: title(b.present.Ref) + " is being deleted", Hint: "create it again"}
	}
	if err := b.checkSelector(); err != nil {
		return err
	}
	if owner := rolloutOwner(b.present); owner != "" {
		return &tree.Error{Msg: fmt.Sprintf("%s is in the hands of %s", title(b.present.Ref), owner), Hint: "'kubectl kruise rollout approve', 'pause' or 'undo' rollout/NAME: it would undo a partition written here"}
	}
	return CheckSteps(b.policy.Steps)
}

func (b *builder) checkSelector() error {
	if b.present.Kind == kruise.KindSidecarSet || sameSelector(selectorOf(b.present.Object), selectorOf(b.desired.Object)) {
		return nil
	}
	return &tree.Error{Path: "spec.selector", Msg: "the selector of " + title(b.present.Ref) + " cannot change", Hint: "keep the selector, or delete the object and create it again"}
}

// title names an object as people do: CloneSet shop/web.
func title(r cluster.Ref) string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// InProgressingAnnotation is how admission marks a workload whose change a Kruise Rollout
// has taken (docs/facts/older-plugin.md#who-owns-the-workload).
const InProgressingAnnotation = "rollouts.kruise.io/in-progressing"

// controlInfo is the other annotation by which a Kruise Rollout holds a workload.
const controlInfo = "batchrelease.rollouts.kruise.io/control-info"

// rolloutOwner names the Rollout that drives the workload; it is empty without
// one.
func rolloutOwner(w *cluster.Workload) string {
	for _, key := range []string{InProgressingAnnotation, controlInfo} {
		if _, ok := w.Annotations[key]; ok {
			return "a Kruise Rollout (annotation " + key + ")"
		}
	}
	return ""
}

// compare fills in what changes and why.
func (b *builder) compare() {
	p := &b.plan
	p.Target = targetOf(b.snap.Workload)
	if b.snap.Carrier != nil {
		carrier := targetOf(b.snap.Carrier)
		p.Target.Carrier = &carrier
	}
	before, after := *b.present, *b.desired
	if before.Kind == kruise.KindReplicaSet {
		before.Template, after.Template = templateOf(b.present), templateOf(b.desired)
	}
	e := rules.Change(&before, &after, b.updatePolicy(), b.snap.Gates)
	c := &p.Change
	c.FromHash, c.ToHash = hashOf(b.present), hashOf(b.desired)
	c.Mode, c.Fields, c.Why, c.Restarts = e.Mode, e.Fields, e.Why, b.restarted(e.Restarts)
	b.changed = c.FromHash != c.ToHash
	c.FromRevision = revisionNamed(b.snap.Revisions, templateOf(b.present))
	c.ToRevision = revisionNamed(b.snap.Revisions, templateOf(b.desired))
	p.Warnings = append(p.Warnings, rules.Remarks(b.present, b.desired, e)...)
	b.modes = newModes(b, e)
}

// compareOld describes what old pods go through where the template is written already, and
// what holds them back gives way: what they have is not the present template but an older
// one, that of the most of them.
func (b *builder) compareOld() {
	if b.changed || b.present.Kind == kruise.KindSidecarSet || len(b.rungs()) == 0 {
		return
	}
	old, ok := b.oldRevision()
	if !ok || TemplateHash(old.Template) == b.plan.Change.ToHash {
		return
	}
	before, after := *b.present, *b.desired
	before.Template = old.Template
	if b.present.Kind == kruise.KindReplicaSet {
		after.Template = templateOf(b.desired)
	}
	e := rules.Change(&before, &after, b.updatePolicy(), b.snap.Gates)
	c := &b.plan.Change
	c.Mode, c.Fields, c.Why, c.Restarts = e.Mode, e.Fields, e.Why, b.restarted(e.Restarts)
	c.FromRevision, b.modes = old.Name, newModes(b, e)
}

// oldRevision is the revision of most of the pods that do not have the present template. Of
// a ReplicaSet, which has none, it is the template before the last rollout.
func (b *builder) oldRevision() (old cluster.Revision, ok bool) {
	count := map[string]int{}
	for _, p := range b.snap.Pods {
		if rules.Active(p) && !b.carries(p) {
			count[cluster.Hash(rules.RevisionOf(p))]++
		}
	}
	for _, r := range b.snap.Revisions {
		if n := count[cluster.Hash(r.Name)]; n > count[cluster.Hash(old.Name)] {
			old, ok = r, true
		}
	}
	if !ok && len(count) > 0 && b.snap.Base != nil && b.present.Kind == kruise.KindReplicaSet {
		return cluster.Revision{Template: b.snap.Base}, true
	}
	return old, ok
}

// updatePolicy is how pods are updated: by the client as the Kruise object says that
// a native one carries. A client that updates pods of a native workload does so
// in place where that is possible; otherwise nobody would need the client.
func (b *builder) updatePolicy() rules.UpdatePolicy {
	if b.plan.Driver == DriverNative {
		return rules.PolicyOf(b.desired.Object)
	}
	strategy := b.desired
	if b.snap.Carrier != nil {
		strategy = b.snap.Workload
	}
	if b.plan.Driver == DriverClient && strategy.Group != kruise.Group {
		return rules.PolicyInPlaceIfPossible
	}
	return rules.PolicyOf(strategy.Object)
}

// revisionNamed is the stored revision of a template, empty while there is none.
func revisionNamed(list []cluster.Revision, template map[string]any) string {
	r, _ := rules.FindRevision(list, template)
	return r.Name
}
