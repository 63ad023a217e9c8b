package simulate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestConformanceRollout holds the world against the recordings: each step from
// the recorded state before it, and each case as a whole from its beginning. A
// case passes when all of it agrees.
func TestConformanceRollout(t *testing.T) {
	conformance.Area(t, "rollout", func(_ *testing.T, c conformance.Case) error {
		steps, err := conformance.RolloutSteps(c)
		if err != nil {
			return err
		}
		script, err := conformance.ReadRolloutScript(c)
		if err != nil {
			return err
		}
		if len(steps) != len(script.Steps) {
			return fmt.Errorf("%d steps are recorded, %d written", len(steps), len(script.Steps))
		}
		var errs []error
		for i, s := range steps {
			if err := runStep(c, script, s, script.Steps[i]); err != nil {
				errs = append(errs, fmt.Errorf("step %d (%s):\n%w", s.Number, script.Steps[i].Title, err))
			}
		}
		if err := runCase(c, script, steps); err != nil {
			errs = append(errs, fmt.Errorf("from the beginning:\n%w", err))
		}
		return errors.Join(errs...)
	})
}

// longest is how long a step may take that is waited for.
const longest = 10 * time.Minute

// runStep loads the state before a step, does the step, and compares what
// follows.
func runStep(c conformance.Case, script conformance.RolloutScript, s conformance.RolloutStep, act conformance.RolloutAct) error {
	b, err := loadBed(c, script, s)
	if err != nil {
		return err
	}
	before := b.pods()
	if err := b.watch(); err != nil {
		return err
	}
	named, err := s.Trace.Act()
	if err != nil {
		return err
	}
	named.On = act.On
	answers, err := b.do(named)
	if err != nil {
		return err
	}
	// A step without a wait ends before anything has happened; the recording is a little longer.
	var ends error
	d, settle := act.Wait()
	if d == 0 && !settle {
		ends = compareEnd(s, b, before)
	}
	settled, err := b.wait(act)
	if err != nil {
		return err
	}
	if d > 0 || settle {
		ends = compareEnd(s, b, before)
	}
	return errors.Join(compareAnswers(s, answers), compareSettled(s, act, settled), compareActs(s, b, before), compareExtremes(s, b), ends)
}

func compareEnd(s conformance.RolloutStep, b *bed, before map[string]*cluster.Pod) error {
	b.learn(s.After)
	return errors.Join(comparePods(s, b, before), compareStatus(s, b))
}

// runCase brings the case up as it was recorded and does all its steps. What can
// be compared is less: which nodes the pods are on, and so who goes first, is
// another matter there.
func runCase(c conformance.Case, script conformance.RolloutScript, steps []conformance.RolloutStep) error {
	b, err := newBed(c, script)
	if err != nil {
		return err
	}
	if err := b.bringUp(); err != nil {
		return err
	}
	for i, act := range script.Steps {
		if err := b.watch(); err != nil {
			return err
		}
		answers, err := b.do(act)
		if err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		if _, err := b.wait(act); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		b.learn(steps[i].After)
		err = errors.Join(compareAnswers(steps[i], answers), compareCounts(steps[i], b), compareExtremes(steps[i], b))
		if d, settle := act.Wait(); d > 0 || settle {
			err = errors.Join(err, compareRevisions(steps[i], b))
		}
		if err != nil {
			return fmt.Errorf("step %d (%s):\n%w", i+1, act.Title, err)
		}
	}
	return nil
}

// refOfDoc is the reference of a plain document.
func refOfDoc(doc map[string]any) cluster.Ref {
	group := ""
	version := fmt.Sprint(doc["apiVersion"])
	for i := range version {
		if version[i] == '/' {
			group = version[:i]
		}
	}
	meta, _ := doc["metadata"].(map[string]any)
	ref := cluster.Ref{Group: group, Kind: fmt.Sprint(doc["kind"]), Name: fmt.Sprint(meta["name"])}
	if namespace, ok := meta["namespace"].(string); ok {
		ref.Namespace = namespace
	}
	return ref
}

// admits asks the checks that stand for Kruise's webhooks.
func (b *bed) admits(before, after *tree.Node) error {
	var around []*resource.Resource
	for _, p := range b.store.all.now {
		if !p.Deleting {
			around = append(around, podResource(p))
		}
	}
	q := check.Request{Object: resource.Parsed(after, nil, resource.Origin{}), Known: true}
	if before != nil {
		q.Old = resource.Parsed(before, nil, resource.Origin{})
	}
	c := stage.New(resource.NewFacts([]*resource.Resource{q.Object}, around, b.namespace), stage.Options{Kruise: kruise.Next})
	var errs []error
	for _, fault := range check.Object(c, q) {
		errs = append(errs, fault.Error)
	}
	return errors.Join(errs...)
}

// podResource is as much of a pod as admission looks at.
func podResource(p *cluster.Pod) *resource.Resource {
	owner := tree.Map("apiVersion", kruise.Group+"/v1beta1", "kind", p.Owner.Kind, "name", p.Owner.Name, "uid", p.Owner.UID, "controller", true)
	n := tree.Map("apiVersion", "v1", "kind", "Pod", "metadata", tree.Map("name", p.Name, "namespace", p.Namespace, "ownerReferences", tree.Seq(owner)))
	return resource.Parsed(n, nil, resource.Origin{})
}

// lifecycleAge is for how long a pod has been in its lifecycle state.
func lifecycleAge(b *bed, p *cluster.Pod) (time.Duration, bool) {
	at, err := time.Parse(time.RFC3339, p.Annotations[kruise.LifecycleTimestampAnnotation])
	return b.Now().Sub(at), err == nil
}

// loadBed puts the state before a step into a world.
func loadBed(c conformance.Case, script conformance.RolloutScript, s conformance.RolloutStep) (*bed, error) {
	b := emptyBed(c, script, s.Before.TakenAt)
	docs := []map[string]any{b.placed(s.Before.Workload)}
	for _, other := range s.Before.Others {
		docs = append(docs, b.placed(other))
	}
	b.target, b.owner = refOfDoc(docs[0]), refOfDoc(ownerOfPods(docs))
	state := State{Revisions: map[cluster.Ref][]cluster.Revision{b.owner: b.revisions(s.Before)}}
	for _, doc := range docs {
		state.Objects = append(state.Objects, tree.FromValue(doc))
	}
	for _, claim := range s.Before.Claims {
		state.Claims = append(state.Claims, b.claim(claim))
	}
	for _, r := range s.Before.Pods {
		state.Pods = append(state.Pods, b.recorded(r))
	}
	for name, labels := range s.Before.NodeLabels {
		b.label(name, labels)
	}
	b.remember(s.Before.Pods)
	if err := b.Load(state); err != nil {
		return nil, err
	}
	return b, b.complete()
}

// label adds labels to a node, which may be one that only the recording knows.
func (b *bed) label(name string, labels map[string]string) {
	own := map[string]string{}
	if n := b.scheduler.nodes[name]; n != nil {
		maps.Copy(own, n.Labels)
	}
	maps.Copy(own, labels)
	b.AddNode(name, own)
}

func (b *bed) revisions(s conformance.RolloutState) []cluster.Revision {
	var out []cluster.Revision
	for _, r := range s.Revisions {
		out = append(out, cluster.Revision{
			Name: r.Name, Number: r.Revision, Template: r.Template, ClaimsHash: r.Annotations[kruise.VolumeClaimTemplateHashAnnotation],
		})
	}
	return out
}

// remember knows the pods by their index, which is in the recorded uid.
func (b *bed) remember(list []conformance.RolloutPod) {
	for _, r := range list {
		n, err := strconv.Atoi(strings.TrimPrefix(r.UID, "p"))
		if err != nil || n < 1 {
			n = len(b.born) + 1
		}
		for len(b.born) < n {
			b.born = append(b.born, "")
		}
		b.born[n-1] = r.UID
	}
}

func (b *bed) claim(r conformance.RolloutClaim) *cluster.Claim {
	out := &cluster.Claim{Namespace: b.namespace, Name: r.Name, Labels: r.Labels}
	if len(r.Owners) > 0 {
		out.Owner.Kind, out.Owner.Name, _ = strings.Cut(r.Owners[0], "/")
	}
	return out
}

// recorded is a recorded pod in our terms.
func (b *bed) recorded(r conformance.RolloutPod) *cluster.Pod {
	p := &cluster.Pod{
		Namespace: b.namespace, Name: r.Name, UID: r.UID, Labels: r.Labels, Annotations: r.Annotations, Finalizers: r.Finalizers,
		Created: r.CreationTimestamp, Deleting: r.DeletionTimestamp != nil, Node: r.Node,
		Phase: corev1.PodPhase(r.Phase), ReadinessGates: r.ReadinessGates,
	}
	p.Owner.Kind, p.Owner.Name, _ = strings.Cut(r.Owner, "/")
	for _, c := range r.Conditions {
		p.Conditions = append(p.Conditions, cluster.Condition{
			Type: c.Type, Status: corev1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime,
		})
	}
	for _, c := range r.Containers {
		p.Containers = append(p.Containers, cluster.Container{
			Name: c.Name, Image: c.Image, Reported: c.State != "", StatusImage: c.StatusImage, ImageID: c.ImageID,
			Restarts: c.RestartCount, Ready: c.Ready, Waiting: waitingReason(c.State),
		})
	}
	return p
}

// waitingReason reads "running", "waiting:ImagePullBackOff", and "terminated:..."
// of a container that is about to start again.
func waitingReason(state string) string {
	kind, reason, _ := strings.Cut(state, ":")
	if kind == "terminated" {
		return waitingCreating
	}
	return reason
}

// complete adds to the loaded pods what the recordings leave out: what their
// revision's template says of the containers' launch priority; and has the
// outside actor go on.
func (b *bed) complete() error {
	o := b.store.objects[b.owner]
	for _, e := range slices.Clone(o.pods.pods) {
		if since, ok := lifecycleAge(b, e.Pod); ok {
			b.hook(e.UID, string(rules.StateOf(e.Pod)), since)
		}
		like, err := b.fromTemplate(o, e.Pod)
		if err != nil {
			return err
		}
		if like == nil {
			continue
		}
		next := *e.Pod
		next.Containers = slices.Clone(next.Containers)
		for i := range next.Containers {
			if c, ok := like.Container(next.Containers[i].Name); ok {
				next.Containers[i].Priority = c.Priority
			}
		}
		e.Pod = &next
		b.store.all.set(e.inAll, e.Pod)
		o.pods.set(e.inO, e.Pod)
	}
	return nil
}

func (b *bed) fromTemplate(o *object, p *cluster.Pod) (*cluster.Pod, error) {
	for _, r := range o.revisions {
		if !rules.AtRevision(p, r.Name) {
			continue
		}
		mould, err := b.creator.prototype(o, r.Name)
		if err != nil {
			return nil, err
		}
		return mould.Pod(controller.CreatePod{Revision: r.Name}, controller.PodRequest{Namespace: p.Namespace, Name: p.Name, Owner: o.ref}, "", b.Now())
	}
	return nil, nil
}
