package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Build makes the plan that brings a workload to what is desired. desired is
// complete, defaults included, and of the kind of the snapshot's carrier where
// there is one: fields that it lacks are removed, so a caller that reads a
// manifest without replicas fills in those of the cluster first. Where nothing is
// changes the plan has no steps, and Change.Why says so.
//
// The pods that steps name are those that the controllers would choose if nothing
// else happened; how many pods each step updates holds in any case.
func Build(desired *cluster.Workload, s Snapshot, policy Policy) (Plan, error) {
	b := newBuilder(desired, s.Object(), s, policy)
	if err := b.check(); err != nil {
		return Plan{}, err
	}
	b.desired = s.Progress.Stop.withoutStop(b.present, b.desired)
	if err := b.chooseDriver(); err != nil {
		return Plan{}, err
	}
	b.compare()
	if err := b.addSteps(); err != nil {
		return Plan{}, err
	}
	(&reviewer{b}).warn()
	return b.plan, nil
}

// builder makes the steps of a plan.
type builder struct{ staging }

func newBuilder(desired, present *cluster.Workload, s Snapshot, policy Policy) *builder {
	return &builder{staging{comparison: comparison{desired: desired, present: present, snap: s, policy: policy}}}
}

func itoa(n int) string { return strconv.Itoa(n) }

// check refuses workloads and policies that no plan can be made for.
func (b *builder) check() error {
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
	if b.present.Kind == kruise.KindSidecarSet || reflect.DeepEqual(cluster.Of(b.present.Object).Selector(), cluster.Of(b.desired.Object).Selector()) {
		return nil
	}
	return &tree.Error{Path: "spec.selector", Msg: "the selector of " + title(b.present.Ref) + " cannot change", Hint: "keep the selector, or delete the object and create it again"}
}

// title is kind, namespace and name of an object: CloneSet shop/web.
func title(r cluster.Ref) string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// rolloutOwner names the Kruise Rollout that controls the workload; it is empty without
// one.
func rolloutOwner(w *cluster.Workload) string {
	for _, key := range []string{InProgressingAnnotation, controlInfo} {
		if _, ok := w.Annotations[key]; ok {
			return "a Kruise Rollout (annotation " + key + ")"
		}
	}
	return ""
}

// InProgressingAnnotation is how admission marks a workload whose change a Kruise Rollout
// has taken (docs/facts/older-plugin.md#who-owns-the-workload).
const InProgressingAnnotation = "rollouts.kruise.io/in-progressing"

// controlInfo is the other annotation by which a Kruise Rollout holds a workload.
const controlInfo = "batchrelease.rollouts.kruise.io/control-info"

// metaOf returns the metadata of an object, empty if it has none.
func metaOf(w *cluster.Workload) metav1.Object {
	m, ok := w.Object.(metav1.Object)
	if !ok {
		return &metav1.ObjectMeta{}
	}
	return m
}

// chooseDriver chooses who replaces the pods (docs/drivers.md).
func (b *builder) chooseDriver() error {
	fits := kindOf(b.desired.Object).drivers()
	want := b.policy.Driver
	if want == "" {
		b.plan.Driver = fits[0]
		return nil
	}
	if slices.Contains(fits, want) {
		b.plan.Driver = want
		return nil
	}
	return &tree.Error{Path: "driver", Msg: title(b.present.Ref) + " cannot be rolled out by the driver " + string(want), Hint: driverHint[want]}
}

var driverHint = map[Driver]string{
	DriverKruise: "the driver kruise needs the Kruise object itself in the cluster: use native or client",
	DriverNative: "the driver native needs an object whose own controller replaces pods: use kruise, or client for OnDelete and ReplicaSets",
	DriverClient: "the driver client needs a ReplicaSet, or a StatefulSet or DaemonSet with OnDelete: 'kubectl kruise render --driver client' makes them",
}

// addSteps makes the steps: shrink, pull, update and the stages after it, grow.
func (b *builder) addSteps() error {
	b.resumeDeployment()
	b.subject = b.readSubject()
	b.plan.Limits = b.subject.limits
	b.compareOld()
	b.assumeHookAnswers()
	if err := b.checkClientBudget(); err != nil {
		return err
	}
	for _, step := range decreasingSteps(b.policy.Steps, b.subject.total) {
		b.warning("step %s comes to fewer of %s than the one before: it is left out", step, counted.Of(b.subject.total, "pod"))
	}
	if err := b.compareSpecs(); err != nil {
		return err
	}
	base := b.present
	from, _ := cluster.Of(b.present.Object).Replicas()
	to, _ := cluster.Of(b.desired.Object).Replicas()
	if to < from {
		base = b.addScale(base, from, to)
	}
	base, err := b.addUpdateSteps(base)
	if err != nil {
		return err
	}
	if to > from {
		b.addScale(base, from, to)
	}
	if len(b.plan.Steps) == 0 {
		b.plan.Change.Why = "nothing to do: the object and its pods are up to date"
	}
	return nil
}

// resumeDeployment resumes a paused Deployment whose pods change: pausing is how
// its rollouts stop between steps, and an aborted rollout leaves it paused.
func (b *builder) resumeDeployment() {
	o, ok := b.desired.Object.(*appsv1.Deployment)
	if !ok || !rules.PausedOf(b.present.Object) || !b.templateChanged && b.updatedPods() >= b.total(rules.LimitsOfDeployment(&o.Spec).Replicas) {
		return
	}
	b.warning("%s is paused: this rollout resumes it", title(b.present.Ref))
	b.desired = withPaused(b.desired, false)
	if len(b.policy.Steps) == 0 {
		b.policy.Steps = []PolicyStep{{To: All}}
	}
}

// readSubject reads the workload whose rules count.
func (b *comparison) readSubject() subject {
	if b.plan.Driver == DriverClient {
		return b.clientSubject()
	}
	return kindOf(b.desired.Object).subject(b)
}

// checkClientBudget refuses a client that may take no pod down and cannot surge.
func (b *builder) checkClientBudget() error {
	if b.plan.Driver != DriverClient || b.subject.limits.MaxUnavailable > 0 || b.subject.total == 0 {
		return nil
	}
	return &tree.Error{
		Path: "spec.updateStrategy.rollingUpdate.maxUnavailable",
		Msg:  "maxUnavailable comes to 0 pods, and there is no surge without Kruise: no pod could ever be updated",
		Hint: "let at least one pod be unavailable",
	}
}

// assumeHookAnswers has the plan assume that lifecycle hooks are answered, where the workload has any
// that its driver keeps.
func (b *builder) assumeHookAnswers() {
	l := b.lifecycle()
	if l == nil || l.PreDelete == nil && l.InPlaceUpdate == nil && l.PreNormal == nil {
		return
	}
	b.plan.HookAnswer = b.policy.HookAnswer
	if b.plan.HookAnswer == 0 {
		b.plan.HookAnswer = defaultHookAnswer
	}
}
