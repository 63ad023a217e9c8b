package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// bed is a world as the recordings' cluster was, with those who act from
// outside.
type bed struct {
	*World
	script conformance.RolloutScript
	// target is the object under test, owner the workload whose pods it is about.
	target, owner cluster.Ref
	namespace     string
	// born are the uids of all pods of the owner, in the order of creation.
	born []string
	// spelling replaces our hashes of revisions by the recorded ones.
	spelling *strings.Replacer
	// called are the names of those of them that are known.
	called map[string]string
}

// zones of the recordings' nodes.
var zones = []string{"zone-a", "zone-b", "zone-c", "zone-a", "zone-b"}

func emptyBed(c conformance.Case, script conformance.RolloutScript, start time.Time) *bed {
	o := lab()
	o.Start, o.RecoverAll = start, true // a step is recorded while pods of the one before come up
	o.Agent.Unpullable = []string{":bad"}
	o.Agent.Override = steered
	b := &bed{script: script, namespace: c.Namespace(), called: map[string]string{}, spelling: strings.NewReplacer()}
	b.World = New(o)
	b.opt.Admit = b.admits
	for i, zone := range zones {
		name := fmt.Sprintf("fake-node-%d", i)
		b.AddNode(name, map[string]string{
			"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone, "topology.kubernetes.io/region": "region-1",
		})
	}
	return b
}

// steered is how annotations of the recordings' lab steer a pod.
func steered(p *cluster.Pod) Override {
	var o Override
	o.Unready = p.Annotations["lab.test/unready"] != ""
	if d, err := time.ParseDuration(p.Annotations["lab.test/ready-delay"]); err == nil {
		ready := Exactly(d)
		o.Ready = &ready
	}
	return o
}

// cluster-wide kinds keep no namespace.
var clusterWide = map[string]bool{"SidecarSet": true, "Namespace": true}

// placed is a document in the case's namespace.
func (b *bed) placed(doc map[string]any) map[string]any {
	if clusterWide[fmt.Sprint(doc["kind"])] {
		return doc
	}
	meta, _ := doc["metadata"].(map[string]any)
	return cluster.WithKey(doc, "metadata", cluster.WithKey(meta, "namespace", b.namespace))
}

// ownerOfPods is the first workload whose controller makes pods.
func ownerOfPods(docs []map[string]any) map[string]any {
	i := slices.IndexFunc(docs, func(d map[string]any) bool {
		kind := d["kind"]
		return kind == "CloneSet" || kind == "StatefulSet" || kind == "DaemonSet"
	})
	if i < 0 {
		return docs[0]
	}
	return docs[i]
}

func newBed(c conformance.Case, script conformance.RolloutScript) (*bed, error) {
	b := emptyBed(c, script, time.Time{})
	b.target = refOfDoc(b.placed(script.Initial[0]))
	b.owner = refOfDoc(b.placed(ownerOfPods(script.Initial)))
	return b, nil
}

// stagger is how far apart pods are brought up.
const stagger = 1300 * time.Millisecond

// bringUp creates the initial objects; with stagger, the pods one after another.
func (b *bed) bringUp() error {
	b.follow()
	replicas := 1
	for _, doc := range b.script.Initial {
		doc = b.placed(doc)
		spec, _ := doc["spec"].(map[string]any)
		if refOfDoc(doc) == b.owner && b.script.Stagger && doc["kind"] != "DaemonSet" {
			if n, err := strconv.Atoi(fmt.Sprint(spec["replicas"])); err == nil {
				replicas = n
			}
			doc = cluster.WithKey(doc, "spec", cluster.WithKey(spec, "replicas", 1))
		}
		if err := b.Apply(tree.FromValue(doc)); err != nil {
			return err
		}
	}
	if err := b.watch(); err != nil {
		return err
	}
	for n := 2; n <= replicas; n++ {
		if err := b.Run(b.Now().Add(stagger)); err != nil {
			return err
		}
		if err := b.MergePatch(b.owner, map[string]any{"spec": map[string]any{"replicas": n}}); err != nil {
			return err
		}
	}
	_, err := b.clock.settle(b.script.Still(), longest)
	return err
}

// follow keeps the order in which pods are created.
func (b *bed) follow() {
	b.creator.onCreate = func(e *pod) {
		if e.owner != nil && e.owner.ref == b.owner {
			b.born = append(b.born, e.UID)
			b.called[e.UID] = e.Name
			b.hook(e.UID, string(rules.StateOf(e.Pod)), 0)
		}
	}
}

// watch begins the timeline of a step, with the outside actor.
func (b *bed) watch() error {
	if err := b.Watch(b.owner); err != nil {
		return err
	}
	b.follow()
	b.recorder.on = func(r Record) {
		if r.Op == OpLifecycle {
			b.hook(r.UID, r.To, 0)
		}
	}
	return nil
}

// hook plans what the outside actor does to a pod that has been in a state for a
// while.
func (b *bed) hook(uid, state string, since time.Duration) {
	for _, h := range b.script.Hooks {
		if h.State != state {
			continue
		}
		b.clock.after(time.Duration(h.After*float64(time.Second))-since, func() {
			if e := b.store.podsByUID[uid]; e != nil {
				change := cluster.PodChange{Labels: h.Labels, AddFinalizers: h.AddFinalizers, RemoveFinalizers: h.RemoveFinalizers}
				if err := b.PatchPod(plan.PodRef{Namespace: e.Namespace, Name: e.Name, UID: uid}, change); err != nil {
					b.clock.errs = append(b.clock.errs, err)
				}
			}
		})
	}
}

// pods are the pods of the owner, by uid.
func (b *bed) pods() map[string]*cluster.Pod {
	out := map[string]*cluster.Pod{}
	for _, p := range b.store.objects[b.owner].pods.now {
		out[p.UID] = p
	}
	return out
}

// numbered finds a pod by its name or its index: 3 is the third that was ever
// created, or who has its name now, -1 the oldest that there is.
func (b *bed) numbered(index any) (plan.PodRef, error) {
	name := fmt.Sprint(index)
	if n, err := strconv.Atoi(name); err == nil {
		name = b.nth(n)
	}
	e := b.store.podsByName[podName{b.namespace, name}]
	if e == nil {
		return plan.PodRef{}, fmt.Errorf("there is no pod %v among %d", index, len(b.born))
	}
	return plan.PodRef{Namespace: e.Namespace, Name: e.Name, UID: e.UID}, nil
}

func (b *bed) nth(n int) string {
	if n > 0 && n <= len(b.born) {
		return b.called[b.born[n-1]]
	}
	for _, uid := range b.born {
		if b.store.podsByUID[uid] != nil {
			if n++; n == 0 {
				return b.called[uid]
			}
		}
	}
	return ""
}

// do does one step and returns what was accepted, request by request.
func (b *bed) do(act conformance.RolloutAct) ([]bool, error) {
	if act.Patch != nil {
		return b.patch(act)
	}
	var answers []bool
	requests, err := b.requests(act)
	for _, request := range requests {
		if err != nil {
			break
		}
		answer := request()
		if answer != nil && !errors.Is(answer, plan.ErrRefused) {
			err = answer
		}
		answers = append(answers, answer == nil)
		// Requests reach the controller one after another.
		if err == nil {
			err = b.Run(b.Now().Add(requestTime))
		}
	}
	return answers, err
}

// requestTime is how long a request of the recordings took, about.
const requestTime = 8 * time.Millisecond

func (b *bed) patch(act conformance.RolloutAct) ([]bool, error) {
	ref := b.target
	if act.On != nil {
		found := false
		for other := range b.store.objects {
			if other.Kind == act.On.Kind && other.Name == act.On.Name {
				ref, found = other, true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no %s %s", act.On.Kind, act.On.Name)
		}
	}
	text, err := json.Marshal(act.Patch)
	if err != nil {
		return nil, err
	}
	filled := string(text)
	for strings.Contains(filled, "$pod(") {
		_, rest, _ := strings.Cut(filled, "$pod(")
		index, _, _ := strings.Cut(rest, ")")
		p, err := b.numbered(index)
		if err != nil {
			return nil, err
		}
		filled = strings.ReplaceAll(filled, "$pod("+index+")", p.Name)
	}
	var patch map[string]any
	if err := json.Unmarshal([]byte(filled), &patch); err != nil {
		return nil, err
	}
	err = b.MergePatch(ref, patch)
	if err != nil && !errors.Is(err, plan.ErrRefused) {
		return nil, err
	}
	return []bool{err == nil}, nil
}

// requests are the requests of an action, in order: one per pod or node.
func (b *bed) requests(act conformance.RolloutAct) ([]func() error, error) {
	var out []func() error
	if act.Action == "labelNodes" {
		for _, name := range act.Nodes {
			out = append(out, func() error { return b.scheduler.labelNode(name, act.Labels) })
		}
		return out, nil
	}
	for _, g := range act.Groups() {
		for _, index := range g.Pods {
			p, err := b.numbered(index)
			if err != nil {
				return nil, err
			}
			switch act.Action {
			case "labelPods", "annotatePods":
				out = append(out, func() error {
					return b.PatchPod(p, cluster.PodChange{Labels: g.Labels, Annotations: g.Annotations})
				})
			case "deletePods":
				out = append(out, func() error { return b.World.pods.deleteByHand(p) })
			case "evictPods":
				out = append(out, func() error { return b.EvictPod(p) })
			default:
				return nil, fmt.Errorf("no action %q", act.Action)
			}
		}
	}
	return out, nil
}

// shortest is how long a step takes that is not waited for.
const shortest = 120 * time.Millisecond

// wait lets the step go on as long as it was recorded.
func (b *bed) wait(act conformance.RolloutAct) (bool, error) {
	d, settle := act.Wait()
	if settle {
		return b.clock.settle(b.script.Still(), longest)
	}
	return false, b.Run(b.Now().Add(max(d, shortest)))
}

func hashOf(p *cluster.Pod) string { return cluster.Hash(rules.RevisionOf(p)) }

// learn finds out under which hashes the recordings know our revisions: those of
// DaemonSets come from how a program of Kubernetes prints its memory.
func (b *bed) learn(s conformance.RolloutState) {
	var pairs []string
	for _, ours := range b.store.objects[b.owner].revisions {
		for _, theirs := range b.revisions(s) {
			if rules.SameTemplate(ours.Template, theirs.Template) && ours.Name != theirs.Name {
				pairs = append(pairs, cluster.Hash(ours.Name), cluster.Hash(theirs.Name))
			}
		}
	}
	b.spelling = strings.NewReplacer(pairs...)
}
