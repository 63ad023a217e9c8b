package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestConformanceSpread replays every recorded case: which subset each pod gets
// and what goes into it, which pods go, deletion costs, the status, and what is
// refused.
func TestConformanceSpread(t *testing.T) {
	conformance.Area(t, "spread", func(_ *testing.T, c conformance.Case) error {
		return conformance.Spread(c, newSpreadBed())
	})
}

// spreadBed is a world with the recordings' nodes.
type spreadBed struct {
	*World
	// objects are the documents that were applied, by kind and name.
	docs map[string]map[string]any
	// before are the pods of the last look; born all since, as they were last.
	before map[string]*pod
	born   map[string]*pod
	last   map[string]conformance.SpreadPod
}

func newSpreadBed() *spreadBed {
	o := lab()
	o.Affinity = true
	o.Agent.Override = inTurn
	b := &spreadBed{World: New(o), docs: map[string]map[string]any{}, before: map[string]*pod{}, born: map[string]*pod{}, last: map[string]conformance.SpreadPod{}}
	for i, zone := range zones {
		name := fmt.Sprintf("fake-node-%d", i)
		b.AddNode(name, map[string]string{
			"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
			"topology.kubernetes.io/zone": zone, "lab.test/fake": "true",
		})
	}
	b.creator.onCreate = func(e *pod) { b.born[e.UID] = e }
	return b
}

// inTurn has pods become ready in the order in which they were created, so that
// none tie.
func inTurn(p *cluster.Pod) Override {
	o := steered(p)
	ready := Exactly(time.Duration(number3(p.UID)) * time.Second)
	o.Ready = &ready
	return o
}

// Apply writes what Kruise's webhooks let through.
func (b *spreadBed) Apply(doc map[string]any) error {
	n := tree.FromValue(doc)
	if err := b.refused(doc); err != nil {
		return err
	}
	key := fmt.Sprint(doc["kind"], "/", tree.StrAt(n, "metadata", "name"))
	b.docs[key] = doc
	apply := func() error { return b.World.Apply(n) }
	if doc["kind"] == "Job" {
		apply = func() error { return b.applyJob(n) }
	}
	if err := apply(); err != nil {
		return err
	}
	return b.Run(b.Now().Add(betweenDocuments))
}

// betweenDocuments is how long a request of the recordings took, about.
const betweenDocuments = 50 * time.Millisecond

func (b *spreadBed) refused(doc map[string]any) error {
	key := fmt.Sprint(doc["kind"], "/", refOf(tree.FromValue(doc)).Name)
	q := check.Request{Object: resource.Parsed(tree.FromValue(doc), nil, resource.Origin{}), Known: true}
	var around []*resource.Resource
	for other, known := range b.docs {
		r := resource.Parsed(tree.FromValue(known), nil, resource.Origin{})
		if around = append(around, r); other == key {
			q.Old = r
		}
	}
	c := stage.New(resource.NewFacts([]*resource.Resource{q.Object}, around, ""), stage.Options{Kruise: kruise.Next})
	var errs []error
	for _, fault := range check.Object(c, q) {
		errs = append(errs, fault.Error)
	}
	return errors.Join(errs...)
}

// applyJob has a ReplicaSet's controller make the pods of a Job: as long as they
// run, the two do the same.
func (b *spreadBed) applyJob(n *tree.Node) error {
	like := tree.Clone(n)
	tree.Set(like, "apiVersion", tree.String("apps/v1"))
	tree.Set(like, "kind", tree.String("ReplicaSet"))
	tree.SetAt(like, tree.Int64(int64(spread.Pods(n))), "spec", "replicas")
	read, err := cluster.ReadWorkload(like)
	if err != nil {
		return err
	}
	read.Ref = refOf(n)
	o := newObject(read.Ref)
	read.UID, read.Generation = b.store.newUID(), 1
	b.store.objects[read.Ref], b.store.owners[read.UID] = o, o
	return b.api.save(o, n, read)
}

func (b *spreadBed) named(kind, name string) (cluster.Ref, error) {
	for ref := range b.store.objects {
		if ref.Kind == kind && ref.Name == name {
			return ref, nil
		}
	}
	return cluster.Ref{}, fmt.Errorf("there is no %s %s", kind, name)
}

func (b *spreadBed) Delete(kind, name string) error {
	ref, err := b.named(kind, name)
	if err != nil {
		return err
	}
	delete(b.docs, kind+"/"+name)
	return b.api.delete(ref)
}

func (b *spreadBed) Patch(kind, name string, patch map[string]any) error {
	ref, err := b.named(kind, name)
	if err != nil {
		return err
	}
	return b.MergePatch(ref, patch)
}

// alive are the live pods, oldest first.
func (b *spreadBed) alive() (out []*pod) {
	for _, e := range b.store.all.pods {
		if !e.Deleting {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, c *pod) int { return number3(a.UID) - number3(c.UID) })
	return out
}

// number3 is the place of a uid in the order in which they were given.
func number3(uid string) (n int) {
	_, _ = fmt.Sscanf(uid, "uid-%d", &n)
	return n
}

func (b *spreadBed) DeletePods(places []int) error {
	for i, e := range b.alive() {
		if places != nil && !slices.Contains(places, i+1) {
			continue
		}
		if err := b.pods.deleteByHand(plan.PodRef{Namespace: e.Namespace, Name: e.Name, UID: e.UID}); err != nil {
			return err
		}
	}
	return nil
}

func (b *spreadBed) Wait(d time.Duration) error { return b.Run(b.Now().Add(d)) }

// spreadStill is longer than a pod that was counted is waited for, and shorter
// than a subset stays closed.
const spreadStill = spreadExpiry + 10*time.Second

func (b *spreadBed) Settle() error {
	_, err := b.clock.settle(spreadStill, 20*time.Minute)
	return err
}

func (b *spreadBed) Pods() (out []conformance.SpreadPod) {
	for _, e := range b.alive() {
		out = append(out, b.tell(e))
	}
	return out
}

func (b *spreadBed) tell(e *pod) conformance.SpreadPod {
	p := conformance.SpreadPod{
		UID: e.UID, Name: e.Name, Generated: e.Owner.Kind != "StatefulSet", Labels: e.Labels, Annotations: e.Annotations,
		Version: cluster.Hash(revisionOf(e.Pod)), Pending: e.Node == "", New: b.before[e.UID] == nil,
	}
	if e.prototype != nil {
		p.Spec, _ = tree.Value(tree.FromValue(e.prototype.template["spec"])).(map[string]any)
	}
	return p
}

// Gone are the pods that went since the last call, as they were then.
func (b *spreadBed) Gone() (out []conformance.SpreadPod) {
	for uid, e := range b.born {
		if alive := b.store.podsByUID[uid]; alive != nil && !alive.Deleting {
			continue
		}
		was, seen := b.last[uid]
		if !seen {
			was = b.tell(e)
		}
		out = append(out, was)
	}
	b.before, b.born, b.last = map[string]*pod{}, map[string]*pod{}, map[string]conformance.SpreadPod{}
	for _, e := range b.alive() {
		b.before[e.UID], b.born[e.UID] = e, e
		was := b.tell(e)
		was.New = false
		b.last[e.UID] = was
	}
	return out
}

func (b *spreadBed) Status() map[string]any {
	out := map[string]any{}
	for _, s := range b.spreads.list {
		text, _ := json.Marshal(s.spread.Status)
		var status map[string]any
		_ = json.Unmarshal(text, &status)
		delete(status, "observedGeneration")
		out[s.ref.Name] = timed(status)
	}
	return out
}

// timed replaces times by the recordings' placeholder; numbers are whole.
func timed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			if v[k] = timed(item); strings.HasSuffix(k, "Time") {
				v[k] = "<time>"
			}
		}
	case []any:
		for i, item := range v {
			v[i] = timed(item)
		}
	case float64:
		return int64(v)
	}
	return v
}
