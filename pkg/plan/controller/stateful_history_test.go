package controller

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// statefulHistory is a random Advanced StatefulSet on its way through random
// changes: new images, partitions, scale, marks and lost pods.
type statefulHistory struct {
	*lab
	rng                            *rand.Rand
	replicas, partition, image     int
	parallel, inPlace, unordered   bool
	maxUnavailable, grace, reserve int
	claims                         bool
}

// TestStatefulSetHistories: no pass takes more pods than the budget allows; when
// all has come to rest, the right ordinals are there, as many updated as the
// partition asks for, and the status says so.
func TestStatefulSetHistories(t *testing.T) {
	for seed := range 80 {
		h := newStatefulHistory(t, uint64(seed))
		for step := range 4 {
			h.shake()
			h.write(h.text())
			h.rollOut(fmt.Sprintf("seed %d, step %d", seed, step))
		}
	}
}

func newStatefulHistory(t *testing.T, seed uint64) *statefulHistory {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	h := &statefulHistory{rng: rng, replicas: 1 + rng.IntN(6), image: 1, maxUnavailable: 1}
	h.parallel, h.inPlace, h.claims = rng.IntN(2) == 0, rng.IntN(2) == 0, rng.IntN(3) == 0
	if h.parallel {
		h.maxUnavailable, h.unordered = 1+rng.IntN(3), rng.IntN(3) == 0
	}
	if h.inPlace {
		h.grace = rng.IntN(2) * 2
	}
	h.lab = newLab(t, h.text())
	h.rollOut(fmt.Sprintf("seed %d, start", seed))
	return h
}

func (h *statefulHistory) text() string {
	rolling := fmt.Sprintf("partition: %d, maxUnavailable: %d", h.partition, h.maxUnavailable)
	if h.unordered {
		rolling += ", unorderedUpdate: {}"
	}
	if h.grace > 0 {
		rolling += fmt.Sprintf(", inPlaceUpdateStrategy: {gracePeriodSeconds: %d}", h.grace)
	}
	edits := []string{
		"replicas: 3", fmt.Sprintf("replicas: %d\n  reserveOrdinals: [%d]", h.replicas, h.reserve-1),
		"partition: 0", rolling, "web:1", fmt.Sprintf("web:%d", h.image),
	}
	if !h.parallel {
		edits = append(edits, ordered...)
	}
	if h.inPlace {
		edits = append(edits, inPlace...)
	}
	text := edited(statefulSetYAML, edits...)
	if h.claims {
		text += claimTemplates
	}
	return text
}

// shake changes something, or several things at once.
func (h *statefulHistory) shake() {
	if h.rng.IntN(3) > 0 {
		h.image = 1 + h.rng.IntN(4)
	}
	if h.rng.IntN(2) == 0 {
		h.partition = h.rng.IntN(h.replicas + 2)
	}
	if h.rng.IntN(4) == 0 {
		h.replicas = h.rng.IntN(7)
	}
	if h.rng.IntN(4) == 0 {
		h.reserve = h.rng.IntN(4)
	}
	for _, p := range slices.Clone(h.pods) {
		switch yes := "true"; h.rng.IntN(12) {
		case 0:
			h.edit(p.Name, cluster.PodChange{Labels: map[string]*string{kruise.SpecifiedDeleteLabel: &yes}})
		case 1:
			h.delete(p)
		case 2:
			h.replace(p.UID, func(p *cluster.Pod) *cluster.Pod { q := *p; q.Phase = corev1.PodFailed; return h.judge(&q, false) })
		}
	}
}

// rollOut lets seconds pass until nothing moves any more. Failed pods stay so
// until they are replaced.
func (h *statefulHistory) rollOut(where string) {
	h.t.Helper()
	quiet := 0
	for range 200 {
		h.hold(where)
		if h.rest(1) != "" {
			quiet = 0
		} else if quiet++; quiet > h.grace+2 {
			h.atEnd(where)
			return
		}
	}
	h.t.Fatalf("%s: never ends: %s", where, h.images())
}

// hold makes one pass by itself and looks at what it takes.
func (h *statefulHistory) hold(where string) {
	h.t.Helper()
	before := slices.Clone(h.pods)
	down := 0
	set := h.rules()
	for _, p := range before {
		if set.Unavailable(p) && slices.Contains(set.Ordinals(), rules.OrdinalOf(p)) {
			down++
		}
	}
	p := h.pass()
	for _, a := range p.Actions {
		var taken *cluster.Pod
		switch a := a.(type) {
		case DeletePod:
			taken = a.Pod
		case PatchPod:
			if _, ok := a.Change.Labels["controller-revision-hash"]; ok {
				taken = a.Pod
			}
		}
		if taken == nil || set.Unavailable(taken) || !slices.Contains(set.Ordinals(), rules.OrdinalOf(taken)) {
			continue
		}
		if down++; down > h.maxUnavailable {
			h.t.Fatalf("%s: %d pods are down, of %d, after %v", where, down, h.maxUnavailable, taken.Name)
		}
	}
}

func (h *statefulHistory) rules() *rules.StatefulSet {
	o := h.w.Object.(*kruise.StatefulSet)
	return &rules.StatefulSet{Spec: &o.Spec, Update: o.Status.UpdateRevision, Pods: h.pods, Now: h.now}
}

func (h *statefulHistory) atEnd(where string) {
	h.t.Helper()
	set, status := h.rules(), h.statefulSet()
	updated, images := 0, []string{}
	for _, p := range h.pods {
		if rules.RevisionOf(p) == status.UpdateRevision {
			updated++
		}
		if p.Deleting || rules.SpecifiedDelete(p) || set.Unavailable(p) || !slices.Contains(set.Ordinals(), rules.OrdinalOf(p)) {
			h.t.Errorf("%s: pod %s is left as %+v", where, p.Name, p)
		}
		images = append(images, p.Containers[0].Image)
	}
	want := max(h.replicas-h.partition, 0)
	if len(h.pods) != h.replicas || updated < want || int(status.UpdatedReplicas) != updated || int(status.UpdatedAvailableReplicas) != updated {
		h.t.Errorf("%s: %d pods, %d updated (%v); wanted %d, %d updated; %+v", where, len(h.pods), updated, images, h.replicas, want, status)
	}
	if done := rules.StatefulSetStepPending(h.w.Object.(*kruise.StatefulSet), set.Kept()); !done.Done() {
		h.t.Errorf("%s: the step waits for %v", where, done)
	}
	if updated == h.replicas && status.CurrentRevision != status.UpdateRevision {
		h.t.Errorf("%s: the current revision has not moved", where)
	}
	if claimed := h.ownClaims(); h.claims && claimed < h.replicas {
		h.t.Errorf("%s: %d claims for %d pods", where, claimed, h.replicas)
	}
}

func (h *statefulHistory) ownClaims() int {
	n := 0
	for _, c := range h.lab.claims {
		if strings.HasPrefix(c.Name, "data-web-") {
			n++
		}
	}
	return n
}
