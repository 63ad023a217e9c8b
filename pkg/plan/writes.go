package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Plans are stored in files and in ConfigMaps, where users may edit them who have fewer
// permissions than the user who runs them. This file defines what a plan may write, by the kind of
// the step, and derives the effect of its writes, whatever the description in the plan is.

// WriteFault is a patch that a plan may not hold.
type WriteFault struct {
	// Step and Patch are indexes into Plan.Steps and Step.Patches.
	Step, Patch int
	Msg, Hint   string
}

// CheckWrites returns what the plan would write that its steps may not write. Every patch goes to the plan's own object, and changes only
// what the kind of its step may change:
//
//	update     the spec: a template with its strategy and the number of pods
//	partition  the partition, or the pause of the controller
//
// Steps of other kinds send no patches of the plan's.
func (p *Plan) CheckWrites() []WriteFault {
	var faults []WriteFault
	for i := range p.Steps {
		for j := range p.Steps[i].Patches {
			if err := p.checkPatch(p.Steps[i].Kind, &p.Steps[i].Patches[j]); err != nil {
				var hint string
				if e, ok := errors.AsType[*tree.Error](err); ok {
					err, hint = errors.New(e.Msg), e.Hint
				}
				faults = append(faults, WriteFault{i, j, err.Error(), hint})
			}
		}
	}
	return faults
}

// checkPatch returns an error if a step of a kind may not send the patch, see
// [Plan.CheckWrites].
func (p *Plan) checkPatch(kind StepKind, patch *Patch) error {
	object := p.Target.Object()
	if t := patch.Target; t != nil && (t.APIVersion != object.APIVersion || t.Kind != object.Kind || t.Namespace != object.Namespace || t.Name != object.Name) {
		return &tree.Error{
			Msg:  fmt.Sprintf("it changes %s %s, and a plan changes its own object only", t.Kind, t.Name),
			Hint: fmt.Sprintf("the plan is for %s %s", object.Kind, object.Name),
		}
	}
	writes, err := fieldWrites(patch)
	if err != nil {
		return err
	}
	may, ok := writable[kind]
	if !ok {
		return &tree.Error{Msg: fmt.Sprintf("a step of kind %s sends no patch", kind), Hint: "remove the patch, or change the kind of the step"}
	}
	for _, w := range writes {
		if err := may(object, patch, w); err != nil {
			return err
		}
	}
	return nil
}

// writable has for each kind of step what it may write.
var writable = map[StepKind]func(Target, *Patch, fieldWrite) error{
	StepUpdate: func(_ Target, patch *Patch, w fieldWrite) error {
		n, whole := wholeNumber(w.value)
		switch {
		case patch.Subresource != "" || w.path[0] != "spec" || len(w.path) == 1:
			return notAllowed(StepUpdate, w, "the fields of the spec")
		case slices.Equal(w.path, []string{"spec", "replicas"}) && w.op != "test" && (!whole || n < 0 || w.op == "remove"):
			return notAllowed(StepUpdate, w, "a number of pods to spec.replicas")
		}
		return nil
	},
	StepPartition: func(object Target, patch *Patch, w fieldWrite) error {
		gv, _ := schema.ParseGroupVersion(object.APIVersion)
		_, pauses := w.value.(bool)
		switch {
		case patch.Subresource != "" || w.op == "remove":
		case slices.Equal(w.path, PartitionPath(gv.Group, object.Kind, gv.Version)) && isPartition(w.value):
			return nil
		case slices.Equal(w.path, PausedPath(gv.Group, object.Kind, gv.Version)) && pauses:
			return nil
		}
		return notAllowed(StepPartition, w, "the partition or the pause")
	},
}

func notAllowed(kind StepKind, w fieldWrite, may string) error {
	return &tree.Error{
		Msg:  fmt.Sprintf("a step of kind %s may not write %s", kind, strings.Join(w.path, ".")),
		Hint: "it may write " + may,
	}
}

// A rollout that was started elsewhere is continued from its record, a ConfigMap that more users
// may write than may write the workload. This file defines what a record alone may cause: nothing
// that changes what runs.

// BegunAnnotation is set on a workload together with the first write of a rollout: [Plan.Mark] of
// its plan. A record alone may not prove which numbers of pods were approved; users who may write
// the annotation may write the partition itself.
const BegunAnnotation = "kubectl-kruise.dev/rollout-plan"

// Mark identifies a plan on its workload.
func (p *Plan) Mark() string { return p.Digest("") }

// IsBegun reports whether the plan is the one whose first write the workload shows. A plan that
// only restarts containers writes nothing there.
func (p *Plan) IsBegun(s Snapshot) bool {
	if !slices.ContainsFunc(p.Steps, func(s Step) bool {
		return len(s.Patches) > 0 || slices.Contains([]StepKind{StepUpdate, StepPartition, StepInPlace, StepRecreate}, s.Kind)
	}) {
		return true
	}
	object := p.objectIn(s)
	return object != nil && object.Annotations[BegunAnnotation] == p.Mark()
}

// WithMark is a patch that also sets [BegunAnnotation] of an object with annotations. It is refused
// where an object that had none has some by now, and where a mark is not to be set it is the patch
// itself.
func (p *Patch) WithMark(mark string, annotations map[string]string) *Patch {
	if mark == "" || annotations[BegunAnnotation] == mark {
		return p
	}
	out := *p
	switch body := p.Body.(type) {
	case map[string]any:
		out.Body = maps.Clone(body)
		out.Body.(map[string]any)["metadata"] = map[string]any{"annotations": map[string]any{BegunAnnotation: mark}}
	case []any:
		if len(annotations) == 0 {
			out.Body = slices.Concat(body, []any{
				setOperation("test", "/metadata/annotations", nil),
				setOperation("add", "/metadata/annotations", map[string]any{BegunAnnotation: mark}),
			})
			break
		}
		out.Body = slices.Concat(body, []any{setOperation("add", "/metadata/annotations/"+escaped(BegunAnnotation), mark)})
	}
	return &out
}

// objectIn is the object of a snapshot that the plan patches.
func (p *Plan) objectIn(s Snapshot) *cluster.Workload {
	return (&rollout{plan: p, snap: &s}).object()
}

// LastUnapproved is the index of the last step that a record alone carries out: the present one,
// or at a pause the one after it, and the pauses that follow. The recorded progress may be edited,
// so no step counts that updates more pods than the first one beyond those that the object lets be
// updated now.
func (p *Plan) LastUnapproved(s Snapshot) int {
	pauses := func(i int) bool { return i < len(p.Steps) && p.Steps[i].Kind == StepPause }
	last := max(s.Progress.Step, 0)
	for pauses(last) {
		last++
	}
	for pauses(last + 1) {
		last++
	}
	now, next := p.letUpdate(s), 0
	for i := range p.Steps {
		if n := p.Steps[i].Updated; n > now && (next == 0 || n < next) {
			next = n
		}
	}
	if next == 0 {
		return last
	}
	beyond := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Updated > next })
	if beyond >= 0 {
		last = min(last, beyond-1)
	}
	return last
}

// letUpdate is how many pods are updated, or let be updated by the partition in force.
func (p *Plan) letUpdate(s Snapshot) int {
	n := Count(*p, s).Updated
	object := p.objectIn(s)
	if object == nil || object.Object == nil || p.Driver == DriverClient || p.Target.Kind == "Pod" {
		return n
	}
	b := newBuilder(object, object, s, Policy{})
	b.plan.Driver = p.Driver
	if b.subject = b.readSubject(); b.subject.partition != nil {
		n = max(n, min(b.allowedNow(), b.subject.total))
	}
	return n
}

// LeadsToPrevious reports whether the patches of the plan lead where it says: to the newest revision
// of the workload that is not its present one, or to the template that it has.
func (p *Plan) LeadsToPrevious(s Snapshot) bool {
	object := p.objectIn(s)
	if object == nil || object.Object == nil {
		return false
	}
	after, err := p.Outcome(object)
	if err != nil || hashOf(after) != p.Change.ToHash {
		return false
	}
	if p.Change.ToHash == hashOf(object) {
		return true
	}
	to, err := OlderRevision(s, 0)
	return err == nil && len(s.Revisions) > 0 && TemplateHash(to.Template) == p.Change.ToHash
}

// NeedsApproval returns what is left of the plan that needs approval by a user when the plan
// comes from a record alone, a line for each, and nothing if only harmless writes are left:
// the partition, the pause of the controller, restarts of containers, and pods that follow
// the template which the live object has already. s is what is in the cluster, with the
// recorded progress.
func (p *Plan) NeedsApproval(s Snapshot) []string {
	var out []string
	object := s.Object()
	if object == nil || object.Object == nil {
		return nil
	}
	object = s.Progress.Stop.reverted(object)
	for i := max(s.Progress.Step, 0); i < len(p.Steps); i++ {
		if why := p.needsApproval(&p.Steps[i], s, object); why != "" {
			out = append(out, fmt.Sprintf("step %s %s", p.Steps[i].Name, why))
		}
	}
	if mayRollBack(p, s) && !p.keepsBase(s) {
		out = append(out, "a failed step goes back to a template that no revision of the workload has")
	}
	if mayRollBack(p, s) {
		if _, back, _, err := p.withSpecBefore(object, s.Pods); err != nil || len(back) > 0 {
			out = append(out, "a failed step writes "+strings.Join(back, ", ")+" as the record has it")
		}
	}
	return out
}

// needsApproval is what one step does that needs approval.
func (p *Plan) needsApproval(step *Step, s Snapshot, object *cluster.Workload) string {
	switch step.Kind {
	case StepVerify:
		switch v := step.Verify; {
		case v == nil:
		case v.Job != nil:
			return "creates a Job"
		case len(v.Command) > 0:
			return "runs a command on this machine"
		default:
			return "asks " + questionText(v) + " from this machine"
		}
	case StepPullImages:
		if step.Pull == nil || len(step.Pull.Images) == 0 {
			break
		}
		return "pulls the image " + cmp.Or(unknownImage(step.Pull.Images, object), step.Pull.Images[0]) + " to the nodes"
	case StepUpdate:
		for i := range step.Patches {
			patch := &step.Patches[i]
			switch {
			case p.checkPatch(StepPartition, patch) == nil, inForce(patch, object): // the partition or the pause alone
			case changesReplicas(patch, object):
				return "changes the number of pods"
			case !p.restoresRevision(s, object):
				return "writes the template or the strategy"
			}
		}
	}
	return ""
}

// changesReplicas reports whether a patch writes another number of pods than the object has.
func changesReplicas(patch *Patch, object *cluster.Workload) bool {
	writes, err := fieldWrites(patch)
	have, scales := cluster.Of(object.Object).Replicas()
	return err != nil || slices.ContainsFunc(writes, func(w fieldWrite) bool {
		n, whole := wholeNumber(w.value)
		return w.op != "test" && slices.Equal(w.path, []string{"spec", "replicas"}) && (!scales || !whole || int(n) != have || w.op == "remove")
	})
}

// restoresRevision reports whether each patch of the plan leads to the live template, or to one that
// the cluster itself has kept as a revision of the workload, and changes nothing else but the
// partition and what stops the controller: a patch in between would have its effect, too.
func (p *Plan) restoresRevision(s Snapshot, object *cluster.Workload) bool {
	if p.RollbackReason == "" {
		return false
	}
	doc, err := p.document(object)
	for i := range p.Steps {
		for j := range p.Steps[i].Patches {
			if err == nil {
				doc, err = ApplyPatch(doc, &p.Steps[i].Patches[j])
			}
			if err != nil || !isRevision(doc, s, object) {
				return false
			}
		}
	}
	return err == nil
}

// isRevision reports whether a document is the object with the template that it has, or one of its
// revisions has.
func isRevision(doc []byte, s Snapshot, object *cluster.Workload) bool {
	after, err := workloadOf(doc)
	if err != nil {
		return false
	}
	if hash := hashOf(after); hash != hashOf(object) && !hasTemplate(s.Revisions, hash) {
		return false
	}
	if had, ok := cluster.Of(object.Object).Replicas(); ok {
		if has, _ := cluster.Of(after.Object).Replicas(); has != had {
			return false
		}
	}
	b := newBuilder(after, withStopOf(object, after), s, Policy{})
	return b.compareSpecs() == nil && !b.specChanged
}

func hasTemplate(list []cluster.Revision, hash string) bool {
	return slices.ContainsFunc(list, func(r cluster.Revision) bool { return TemplateHash(r.Template) == hash })
}

// unknownImage is the first image that the live template does not have.
func unknownImage(images []string, object *cluster.Workload) string {
	have := map[string]bool{}
	for _, image := range templateImages(object) {
		have[image] = true
	}
	for _, image := range images {
		if !have[image] {
			return image
		}
	}
	return ""
}

// templateImages are the images of a workload's template, and of a SidecarSet's containers.
func templateImages(w *cluster.Workload) []string {
	spec, ok := w.Template["spec"].(map[string]any)
	if !ok {
		spec = w.Template
	}
	var out []string
	for _, field := range []string{"initContainers", "containers"} {
		list, _ := spec[field].([]any)
		for _, item := range list {
			container, _ := item.(map[string]any)
			if image, ok := container["image"].(string); ok {
				out = append(out, image)
			}
		}
	}
	return out
}

// mayRollBack reports whether a step that is left may lead to a rollback.
func mayRollBack(p *Plan, s Snapshot) bool {
	if p.RollbackReason != "" || s.Progress.Step >= len(p.Steps) {
		return false
	}
	return slices.ContainsFunc(p.Steps[max(s.Progress.Step, 0):], func(step Step) bool { return step.OnFailure == FailRollback })
}

// keepsBase reports whether the cluster itself keeps the template that the plan started
// from.
func (p *Plan) keepsBase(s Snapshot) bool {
	return p.Change.FromHash == p.Change.ToHash || hasTemplate(s.Revisions, p.Change.FromHash)
}

// WithStricterLimits returns a plan that comes from a record alone, with the stricter of the limits on
// record and those that the live object comes to: an edited record takes no more pods down at
// a time, waits no shorter for them, and takes them out of service before they change.
func (p Plan) WithStricterLimits(s Snapshot) Plan {
	if object := s.Object(); object == nil || object.Object == nil || p.Target.Kind == "Pod" {
		p.Limits.MaxUnavailable, p.Limits.MaxSurge = min(p.Limits.MaxUnavailable, 1), 0
		return p
	}
	b := newBuilder(s.Object(), s.Object(), s, Policy{})
	b.plan.Driver = p.Driver
	if p.Drain == DrainNone {
		p.Drain = b.drain()
	}
	if p.Driver == DriverClient {
		p.Grace = max(p.Grace, b.grace())
	}
	live := b.readSubject().limits
	p.Limits.MaxUnavailable = min(p.Limits.MaxUnavailable, live.MaxUnavailable)
	p.Limits.MaxSurge = min(p.Limits.MaxSurge, live.MaxSurge)
	p.Limits.MinReady = max(p.Limits.MinReady, live.MinReady)
	return p
}

// Commands are the programs that the plan's verify steps would run on the machine of the
// user who carries it out, from a step on, each as one line.
func (p *Plan) Commands(from int) []string {
	var out []string
	for i := max(from, 0); i < len(p.Steps); i++ {
		if v := p.Steps[i].Verify; v != nil && len(v.Command) > 0 {
			out = append(out, fmt.Sprintf("step %s: %s", p.Steps[i].Name, strings.Join(v.Command, " ")))
		}
	}
	return out
}

// digestForm is the version of what a digest is made of: another form has other digests.
const digestForm = "rollout-plan-3"

// Digest identifies what a user approves: the object (by uid) in its cluster, the
// template that it starts from, everything that will be written, asked, pulled and
// restarted, what must hold before and after each step, and the limits. Predictions, titles, warnings and time limits are not part of
// it, so that they can be worded and estimated again. clusterID identifies the cluster, such
// as by the uid of its namespace kube-system. It is "sha256:" and 32 hexadecimal digits.
func (p *Plan) Digest(clusterID string) string {
	var steps []any
	for i := range p.Steps {
		steps = append(steps, approvedStep(&p.Steps[i]))
	}
	approved := []any{
		digestForm, clusterID, approvedTarget(&p.Target), p.Driver, p.Change.FromHash, p.Change.ToHash,
		p.Limits, p.Drain, p.Grace, p.RollbackReason != "", steps,
	}
	if p.Change.FromHash == p.Change.ToHash { // a rollback leads to what pods had, which no hash names
		approved = append(approved, p.Change.FromRevision)
	}
	if len(p.Change.Spec) > 0 { // what a rollback writes
		approved = append(approved, p.Change.Spec)
	}
	text, err := json.Marshal(approved)
	if err != nil {
		return "" // decoded JSON always encodes
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:16])
}

func approvedTarget(t *Target) any {
	out := []any{t.APIVersion, t.Kind, t.Namespace, t.Name, t.UID}
	if t.Carrier != nil {
		out = append(out, approvedTarget(t.Carrier))
	}
	return out
}

// approvedStep is what a step does. The pods of a step are predictions, except where they
// are what the step is for.
func approvedStep(s *Step) any {
	out := map[string]any{
		"kind": s.Kind, "updated": s.Updated, "onFailure": s.OnFailure,
		"pause": s.Pause, "verify": s.Verify, "pull": s.Pull, "containers": s.Containers,
	}
	for key, list := range map[string][]Condition{"before": s.Before, "after": s.After} {
		var conditions []any
		for _, c := range list {
			conditions = append(conditions, []any{c.Type, c.Value})
		}
		out[key] = conditions
	}
	var patches []any
	for _, p := range s.Patches {
		var target any
		if p.Target != nil {
			target = approvedTarget(p.Target)
		}
		patches = append(patches, []any{target, p.Type, p.Subresource, p.Reached, p.Body})
	}
	out["patches"] = patches
	if s.Kind == StepRecreateContainers {
		var pods []any
		for _, p := range s.Pods {
			pods = append(pods, []any{p.Name, p.UID})
		}
		out["pods"] = pods
	}
	return out
}
