package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Rendering is what a render of one ResourceDistribution gave.
type Rendering struct {
	// Copies are the objects that came out.
	Copies []map[string]any
	// Findings are the messages by rule, without the kind's prefix: conflict,
	// namespace-missing, immutable, secret-type, stale-copy.
	Findings map[string][]string
}

// RenderDistribution renders the documents of stream, with the objects of a
// cluster as context. An error is a refusal.
type RenderDistribution func(stream, context []map[string]any) (*Rendering, error)

// Distribution runs a case of that area, all of its steps. Each document is
// applied to a model of the cluster in which Kruise's controller is woken by
// what wakes it (docs/kruise/distribution.md#resourcedistribution) and then takes its copies from
// render, so a render stands for one reconciliation: who gets a copy, what is
// in it, what conflicts and what is missing are the renderer's answers; when
// and how a live object is overwritten are the model's.
func Distribution(c Case, render RenderDistribution) error {
	r := &distributionRun{c: c, render: render, cluster: newCluster(c), last: map[string]*Rendering{}, copied: map[string]bool{}}
	first := true
	return eachStep(c, func(docs []map[string]any, want map[string]any) error {
		if err := r.step(docs, want); err != nil || !first {
			return err
		}
		first = false
		return r.whole(want)
	})
}

// distributionRun is a case while it runs.
type distributionRun struct {
	c       Case
	render  RenderDistribution
	cluster cluster
	// last is the latest rendering per ResourceDistribution.
	last map[string]*Rendering
	// copied holds kind/name of everything that was ever distributed.
	copied map[string]bool
	// want is what the step in hand must lead to.
	want map[string]any
}

// step applies documents and compares with what was recorded.
func (r *distributionRun) step(docs []map[string]any, want map[string]any) error {
	r.want = want
	refused := ""
	for _, d := range docs {
		if err := r.apply(d); err != nil {
			if r.want["result"] != "rejected" {
				return err
			}
			refused = kindOf(d) + "/" + nameOf(d)
			break
		}
	}
	if err := Different("refusal", Diff(text(r.want, "refusal", "object"), refused)); err != nil {
		return err
	}
	return r.compare()
}

// apply does what one document says: mostly it is stored, then whatever object it
// wakes reconciles.
func (r *distributionRun) apply(d map[string]any) error {
	if d["apiVersion"] == "conformance/v1" {
		return r.deed(d)
	}
	if !isDistribution(d) {
		r.cluster.put(d)
		return r.wake(d)
	}
	if err := r.reconcile(d); err != nil {
		return err
	}
	r.cluster.put(d)
	return nil
}

// deed is something a user does other than applying.
func (r *distributionRun) deed(d map[string]any) error {
	of := strings.Fields(text(d, "of"))
	switch d["kind"] {
	case "Wait", "DeletePods": // there are none
		return nil
	}
	if len(of) == 0 {
		return fmt.Errorf("a %v of nothing", d["kind"])
	}
	at := r.cluster.found(key{of[len(of)-1], namespaceOf(d), nameOf(d)})
	switch d["kind"] {
	case "DeleteObject":
		return r.wake(r.cluster.remove(at))
	case "MergePatch":
		before := r.cluster[at]
		after, ok := mergePatch(before, d["patch"]).(map[string]any)
		if !ok {
			return fmt.Errorf("patch of %v: no object", at)
		}
		r.cluster[at] = after
		return r.wake(before)
	}
	return fmt.Errorf("unknown document kind %v", d["kind"])
}

// wake reconciles those that a change of the object concerns: a copy wakes its
// owner, a namespace all of them, and a foreign object none.
func (r *distributionRun) wake(changed map[string]any) error {
	for _, rd := range r.cluster.kind(kruise.KindResourceDistribution) {
		if kindOf(changed) == "Namespace" || owner(changed) == nameOf(rd) {
			if err := r.reconcile(rd); err != nil {
				return err
			}
		}
	}
	return nil
}

// reconcile renders rd and stores the copies as Kruise would.
func (r *distributionRun) reconcile(rd map[string]any) error {
	out, err := r.render([]map[string]any{rd}, r.cluster.all())
	if err != nil {
		return err
	}
	r.last[nameOf(rd)] = out
	resource, _ := field(rd, "spec", "resource").(map[string]any)
	r.copied[kindOf(resource)+"/"+nameOf(resource)] = true
	var kept []string
	for _, c := range out.Copies {
		kept = append(kept, namespaceOf(c))
		if err := r.store(rd, c); err != nil {
			return err
		}
	}
	return r.prune(rd, resource, kept)
}

// store writes one copy. Whether the API server takes it is not for a renderer
// to know, so the recorded failures say; but a renderer that sees the live
// object must foresee a refused update.
func (r *distributionRun) store(rd, c map[string]any) error {
	c = unlabelled(c)
	at := keyOf(c)
	live := r.cluster[at]
	switch {
	case live == nil:
		if !slices.Contains(r.failed(rd, "CreateResourceFailed"), at.namespace) {
			r.cluster.put(owned(c, nameOf(rd)))
		}
	case owner(live) != nameOf(rd):
		return fmt.Errorf("a copy is rendered over the foreign object %v", at)
	case Diff(body(live), body(c)) == "": // labels alone are no reason to write
	case slices.Contains(r.failed(rd, "UpdateResourceFailed"), at.namespace):
		foreseen := append(slices.Clone(r.last[nameOf(rd)].Findings["immutable"]), r.last[nameOf(rd)].Findings["secret-type"]...)
		if !mentioned(foreseen, at.namespace) {
			return fmt.Errorf("the refused update of %v was not foreseen", at)
		}
	default:
		r.cluster.put(owned(merged(live, c), nameOf(rd)))
	}
	return nil
}

// prune deletes copies outside the targets; each must have been reported.
func (r *distributionRun) prune(rd, resource map[string]any, kept []string) error {
	for _, o := range r.cluster.kind(kindOf(resource)) {
		if nameOf(o) != nameOf(resource) || owner(o) != nameOf(rd) || slices.Contains(kept, namespaceOf(o)) {
			continue
		}
		if !mentioned(r.last[nameOf(rd)].Findings["stale-copy"], namespaceOf(o)) {
			return fmt.Errorf("no word of the stale copy in %s", namespaceOf(o))
		}
		delete(r.cluster, keyOf(o))
	}
	return nil
}
