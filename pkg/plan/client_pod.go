package plan

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// take brings one chosen pod a step further: out of service, through its grace
// period, to the new containers; or away, where it has to be recreated.
func (c *client) take(p *cluster.Pod) {
	change, pairs := exchanging(p, c.changeOf(p))
	switch mode, why := c.modeOf(p, change); mode {
	case rules.ModeRecreate:
		c.evict(p)
	case rules.ModeNotAllowed:
		c.block(GateNotAllowed, p, why)
	default:
		c.update(p, c.inPlace(change), pairs, mode == rules.ModeInPlace)
	}
}

// modeOf decides for one pod: an unchanged template, as far as that can be told,
// only lacks the label that says so.
func (c *client) modeOf(p *cluster.Pod, change rules.TemplateChange) (rules.UpdateMode, string) {
	mode, why := change.Eligible().ForPod(p, change.Old.Template != nil, false)
	if mode == rules.ModeUnchanged {
		return rules.ModeMetadataOnly, why
	}
	return mode, why
}

func (c *client) inPlace(change rules.TemplateChange) controller.InPlace {
	return controller.InPlace{
		Spec: change.InPlaceSpec(), Revision: c.revision, Lifecycle: c.lifecycle(),
		Labels: map[string]string{revisionMark: c.revision},
	}
}

// lifecycle are the hooks that the client keeps.
func (c *client) lifecycle() *kruise.Lifecycle {
	if c.spec == nil {
		return nil
	}
	return c.spec.lifecycle()
}

// update is the small state machine of one pod; all that it knows is on the pod.
func (c *client) update(p *cluster.Pod, u controller.InPlace, pairs []hotPair, restarts bool) {
	restarts = restarts && !hotOnly(u.Spec, pairs)
	to, err := rules.StateToUpdate(p, u.Lifecycle)
	if err != nil {
		c.block(GateHook, p, err.Error())
		return
	}
	prepared := rules.StateOf(p) == rules.StatePreparingUpdate
	wait := c.graceEnds(p)
	switch {
	case !prepared && !c.permit(p, kruise.PubUpdateOperation):
	case !prepared && (to == rules.StatePreparingUpdate || restarts && c.drains(p)):
		change := u.Prepare(p, c.now)
		c.leave(p, &change)
		c.write(p, change, "take "+p.Name+" out of service")
	case to == rules.StatePreparingUpdate:
		c.block(GateHook, p, c.holding(p, "its inPlaceUpdate hook holds it"))
	case prepared && restarts && c.now.Before(wait):
		c.until = earliest(c.until, wait)
		c.block(GateGrace, p, "out of service, its containers change at "+wait.UTC().Format(time.TimeOnly))
	default:
		change := u.Start(p, c.now)
		beside(&change, p, pairs)
		c.write(p, change, "update "+p.Name+" in place")
	}
}

// holding says which hook holds a pod and since when, as soon as the pod itself says so.
func (c *client) holding(p *cluster.Pod, otherwise string) string {
	if b, ok := Held(*c.snap, p); ok {
		return b.Why
	}
	return otherwise
}

// drains reports whether a pod leaves its Services before it changes.
func (c *client) drains(p *cluster.Pod) bool {
	switch c.plan.Drain {
	case DrainLabel:
		_, in := p.Labels[kruise.InServiceLabel]
		return in
	case DrainGate:
		return rules.HasInPlaceGate(p)
	}
	return false
}

// leave takes a pod out of service.
func (c *client) leave(p *cluster.Pod, change *cluster.PodChange) {
	switch {
	case !c.drains(p):
	case c.plan.Drain == DrainLabel:
		if change.Labels == nil {
			change.Labels = map[string]*string{}
		}
		change.Labels[kruise.InServiceLabel] = nil
	default:
		change.Conditions = append(change.Conditions, cluster.SetTo(kruise.InPlaceUpdateReady, corev1.ConditionFalse, "StartInPlaceUpdate", ""))
	}
}

// graceEnds is when a pod that was taken out of service may change. Without a time
// on the pod it is over.
func (c *client) graceEnds(p *cluster.Pod) time.Time {
	since, err := time.Parse(time.RFC3339, p.Annotations[kruise.LifecycleTimestampAnnotation])
	if err != nil {
		return time.Time{}
	}
	return since.Add(c.plan.Grace)
}

// evict takes a pod away, unless a hook or a budget holds it.
func (c *client) evict(p *cluster.Pod) {
	lifecycle := c.lifecycle()
	to, remove := rules.StateToDelete(p, lifecycle)
	held := rules.StateOf(p) == rules.StatePreparingDelete
	switch {
	case !remove && held:
		c.block(GateHook, p, c.holding(p, "its preDelete hook holds it"))
	case !held && (!c.permit(p, kruise.PubEvictOperation) || !c.mayEvict(p)):
	case !remove && to == rules.StatePreparingDelete:
		c.write(p, controller.InPlace{Lifecycle: lifecycle}.PrepareDelete(p, c.now), "prepare the deletion of "+p.Name)
	default:
		c.say(Action{Evict: &PodRef{p.Namespace, p.Name, p.UID}}, "evict "+p.Name)
	}
}

// permit asks the PodUnavailableBudgets.
func (c *client) permit(p *cluster.Pod, op kruise.PubOperation) bool {
	if why, ok := c.budgets.allow(p, op); !ok {
		c.block(GateBudget, p, why)
		return false
	}
	return true
}

func (c *client) mayEvict(p *cluster.Pod) bool {
	if why, ok := c.budgets.evict(p); !ok {
		c.block(GateBudget, p, why)
		return false
	}
	return true
}

// changeOf is the change of template that one pod goes through, from its own
// revision to the present template.
func (c *client) changeOf(p *cluster.Pod) rules.TemplateChange {
	w := c.object()
	change := rules.TemplateChange{New: cluster.Revision{Template: w.Template}, Policy: clientPolicy(c.snap), Gates: c.snap.Gates}
	if _, ok := w.Object.(*appsv1.ReplicaSet); ok {
		change.New.Template = unmarked(w.Template)
		change.Old.Template = c.former(p, change.New.Template)
		return change
	}
	for _, r := range c.snap.Revisions {
		if cluster.Hash(r.Name) == cluster.Hash(rules.RevisionOf(p)) {
			change.Old = r
		}
	}
	return change
}

// clientPolicy is how pods are updated, see [builder.updatePolicy].
func clientPolicy(s *Snapshot) rules.UpdatePolicy {
	if s.Carrier == nil || s.Workload == nil {
		return rules.PolicyInPlaceIfPossible
	}
	return rules.PolicyOf(s.Workload.Object)
}

// former is the template that a pod of a ReplicaSet was made from, as far as anybody
// knows: the one on record, where the pod names it, or the one before the plan's patch.
// It is nil for a pod of any other: what has changed besides its image nobody knows.
func (c *client) former(p *cluster.Pod, template map[string]any) map[string]any {
	mark, change := rules.RevisionOf(p), c.plan.Change
	switch {
	case onRecord(*c.snap, mark):
		return unmarked(c.snap.Base)
	case mark == "" || mark == change.FromHash && mark != change.ToHash:
		return c.replaced(p, template)
	}
	return nil
}

// onRecord reports whether a mark is that of the template on record.
func onRecord(s Snapshot, mark string) bool {
	return s.Base != nil && mark == TemplateHash(unmarked(s.Base))
}

// replaced is the template that a ReplicaSet had before the plan's patch, as far
// as it matters: nobody keeps it, but the patch says where the two differ, and the
// pod which images it has. What the patch has set is missing in it, what the patch
// has removed is there.
func (c *client) replaced(p *cluster.Pod, template map[string]any) map[string]any {
	old := deepCopy(template)
	for _, path := range c.patchedPaths() {
		switch path.op {
		case "remove":
			setPointer(old, path.pointer, "")
		case "add", "replace":
			setPointer(old, path.pointer, nil)
		}
	}
	spec, _ := old["spec"].(map[string]any)
	containers, _ := spec["containers"].([]any)
	for _, item := range containers {
		container, _ := item.(map[string]any)
		name, _ := container["name"].(string)
		if have, ok := p.Container(name); ok && container != nil {
			container["image"] = have.Image
		}
	}
	return old
}

// patchedPath is where a patch changes the template.
type patchedPath struct{ op, pointer string }

const templatePointer = "/spec/template/"

// patchedPaths are where the plan's patch changes the template, but for the images of
// containers, which the pod tells, and the label of the revision.
func (c *client) patchedPaths() []patchedPath {
	var out []patchedPath
	for i := range c.plan.Steps {
		for _, p := range c.plan.Steps[i].Patches {
			ops, _ := p.Body.([]any)
			for _, item := range ops {
				op, _ := item.(map[string]any)
				pointer, _ := op["path"].(string)
				kind, _ := op["op"].(string)
				below, ok := strings.CutPrefix(pointer, templatePointer)
				told := certain(below) && strings.HasPrefix(below, "spec/containers/")
				if ok && !told && !strings.HasSuffix(below, "/labels/"+revisionMark) {
					out = append(out, patchedPath{kind, below})
				}
			}
		}
	}
	return out
}

func deepCopy(v map[string]any) map[string]any {
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out map[string]any
	if json.Unmarshal(text, &out) != nil {
		return nil
	}
	return out
}

// setPointer sets the value that a JSON pointer leads to, where its parent is.
func setPointer(doc map[string]any, pointer string, v any) {
	at := strings.LastIndexByte(pointer, '/')
	key := strings.NewReplacer("~1", "/", "~0", "~").Replace(pointer[at+1:])
	parent := any(doc)
	if at > 0 {
		parent = pointed(doc, pointer[:at])
	}
	if m, ok := parent.(map[string]any); ok {
		m[key] = v
		return
	}
	if list, ok := parent.([]any); ok {
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(list) {
			list[i] = v
		}
	}
}
