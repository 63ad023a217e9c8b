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

// TestStatefulSet_Histories: no pass takes more pods than the budget allows; when
// all has come to rest, the right ordinals are there, as many updated as the
// partition asks for, and the status says so.
func TestStatefulSet_Histories(t *testing.T) {
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

// daemonHistory is a random Advanced DaemonSet on its way through random changes:
// new images, partitions, nodes that come and go, pods that are lost.
type daemonHistory struct {
	*lab
	rng                            *rand.Rand
	image, partition, limit, burst int
	surge, inPlace                 bool
	nodes                          int
}

// TestDaemonSet_Histories: the update alone never takes more available pods than
// the budget; when all has come to rest there is one pod per node, as many
// updated as the partition asks for, and the status says so.
func TestDaemonSet_Histories(t *testing.T) {
	for seed := range uint64(80) {
		rng := rand.New(rand.NewPCG(seed, 11))
		h := &daemonHistory{rng: rng, image: 1, limit: 1 + rng.IntN(3), nodes: 1 + rng.IntN(6), burst: 1 + rng.IntN(8), surge: rng.IntN(3) == 0}
		h.inPlace = !h.surge && rng.IntN(2) == 0
		h.lab = newLab(t, h.text())
		h.join()
		h.rollOut(fmt.Sprintf("seed %d, start", seed))
		for step := range 4 {
			if rng.IntN(3) > 0 {
				h.image = 1 + rng.IntN(4)
			}
			h.partition = max(0, rng.IntN(h.nodes+3)-2)
			h.write(h.text())
			h.rollOut(fmt.Sprintf("seed %d, step %d", seed, step))
			h.disturb()
			h.rollOut(fmt.Sprintf("seed %d, after step %d", seed, step))
		}
	}
}

func (h *daemonHistory) text() string {
	rolling := fmt.Sprintf("partition: %d, maxUnavailable: %d", h.partition, h.limit)
	switch {
	case h.surge:
		rolling = fmt.Sprintf("partition: %d, maxSurge: %d", h.partition, h.limit)
	case h.inPlace:
		rolling += ", rollingUpdateType: InPlaceIfPossible"
	}
	return edited(daemonYAML, "TYPE", rolling, "OTHER: null", fmt.Sprintf("burstReplicas: %d", h.burst), "web:1", fmt.Sprintf("web:%d", h.image))
}

func (h *daemonHistory) join() {
	h.lab.nodes = map[string]*cluster.Node{}
	for i := range h.nodes {
		h.node(fmt.Sprintf("n%d", i), nil)
	}
}

// disturb changes the nodes, or loses pods.
func (h *daemonHistory) disturb() {
	if h.rng.IntN(3) == 0 {
		h.nodes = 1 + h.rng.IntN(6)
		h.join()
	}
	for _, p := range slices.Clone(h.pods) {
		if h.rng.IntN(6) == 0 {
			h.delete(p)
		}
	}
}

func (h *daemonHistory) rollOut(what string) {
	h.t.Helper()
	for quiet := 0; quiet < 3; {
		before := h.available()
		h.pass()
		if taken := before - h.available(); taken > h.limit && len(h.pods) <= h.nodes {
			h.t.Fatalf("%s: %d pods were taken at once, the limit is %d", what, taken, h.limit)
		}
		h.second()
		if h.did() == "" {
			quiet++
		} else {
			quiet = 0
		}
		if h.now.Sub(labStart).Hours() > 24 {
			h.t.Fatalf("%s: it does not come to rest", what)
		}
	}
	h.atRest(what)
}

func (h *daemonHistory) available() int {
	n := 0
	for _, p := range h.pods {
		if !p.Deleting && rules.Ready(p) {
			n++
		}
	}
	return n
}

func (h *daemonHistory) atRest(what string) {
	h.t.Helper()
	on, updated := map[string]int{}, 0
	for _, p := range h.pods {
		on[p.Node]++
		if rules.AtRevision(p, h.daemons().UpdateRevision) {
			updated++
		}
	}
	for name := range h.lab.nodes {
		if on[name] != 1 {
			h.t.Fatalf("%s: %d pods on %s", what, on[name], name)
		}
	}
	s := h.daemons()
	if len(h.pods) != h.nodes || updated < h.nodes-min(h.partition, h.nodes) {
		h.t.Fatalf("%s: %d pods on %d nodes, %d updated under partition %d", what, len(h.pods), h.nodes, updated, h.partition)
	}
	if int(s.DesiredNumberScheduled) != h.nodes || int(s.NumberAvailable) != h.nodes || int(s.UpdatedNumberScheduled) != updated || s.NumberUnavailable != 0 || s.ObservedGeneration != h.w.Generation {
		h.t.Fatalf("%s: %d updated of %d, status %+v", what, updated, h.nodes, s)
	}
}

// TestDeployment_Histories: whatever templates come in the middle of a rollout,
// never more pods are there than the surge allows, never fewer available than
// promised, and it ends with the last template everywhere.
func TestDeployment_Histories(t *testing.T) {
	for seed := range 60 {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		text := func(image int) string {
			return edited(deploymentYAML, "web:1", fmt.Sprint("web:", image))
		}
		replicas, surge := 1+rng.IntN(8), rng.IntN(4)
		spec := []string{"replicas: 4", fmt.Sprint("replicas: ", replicas), "maxSurge: 1", fmt.Sprint("maxSurge: ", surge), "maxUnavailable: 1", fmt.Sprint("maxUnavailable: ", rng.IntN(4))}
		l := newLab(t, edited(text(1), spec...))
		l.settle()
		l.seconds(3)
		image := 1
		for range 4 {
			image = 1 + rng.IntN(4)
			l.write(edited(text(image), spec...))
			for range rng.IntN(5) {
				l.second()
				bounds(t, seed, l)
			}
		}
		for range 60 {
			l.second()
			bounds(t, seed, l)
		}
		if pending := rules.DeploymentPending(l.deployment()); !pending.Done() {
			t.Errorf("seed %d: waits for %v, %s", seed, pending, l.sizes())
		}
		for _, c := range l.children {
			for _, p := range c.pods {
				if imageOf(p) != fmt.Sprint(image) {
					t.Errorf("seed %d: pod %s has image %s", seed, p.Name, imageOf(p))
				}
			}
		}
	}
}

func bounds(t *testing.T, seed int, l *lab) {
	t.Helper()
	limits := rules.LimitsOfDeployment(&l.deployment().Spec)
	total, available := 0, 0
	for _, c := range l.children {
		active := activePods(c.pods)
		total += len(active)
		for _, p := range active {
			if rules.Available(p, 0, l.now) {
				available++
			}
		}
	}
	if total > limits.Replicas+limits.MaxSurge || available < limits.Replicas-limits.MaxUnavailable {
		t.Fatalf("seed %d: %d pods, %d available, of %+v", seed, total, available, limits)
	}
}

// TestSidecarSet_Histories: a random SidecarSet goes through random images,
// strategies, new and lost pods. No pass takes more ready pods than
// maxUnavailable leaves, and at rest as many are updated as the partition asks
// for.
func TestSidecarSet_Histories(t *testing.T) {
	for seed := range uint64(80) {
		rng := rand.New(rand.NewPCG(seed, 13))
		h := &sidecarHistory{rng: rng, image: 1, limit: 1 + rng.IntN(3), hot: rng.IntN(3) == 0}
		h.lab = newSidecars(t, 1+rng.IntN(6), h.body())
		for step := range 5 {
			h.image, h.partition = 1+rng.IntN(4), max(0, rng.IntN(7)-3)
			h.set(h.body())
			h.rollOut(fmt.Sprintf("seed %d, step %d", seed, step))
			h.disturb()
			h.rollOut(fmt.Sprintf("seed %d, after step %d", seed, step))
		}
	}
}

type sidecarHistory struct {
	*lab
	rng                     *rand.Rand
	image, limit, partition int
	hot                     bool
}

func (h *sidecarHistory) body() string {
	text := mesh
	if h.hot {
		text = hotMesh
	}
	text = strings.ReplaceAll(text, "mesh:1.0", fmt.Sprintf("mesh:%d.0", h.image))
	return text + fmt.Sprintf("updateStrategy: {maxUnavailable: %d, partition: %d}", h.limit, h.partition)
}

func (h *sidecarHistory) disturb() {
	for _, p := range slices.Clone(h.pods) {
		if h.rng.IntN(8) == 0 {
			h.delete(p)
		}
	}
	h.join(h.rng.IntN(2))
}

func (h *sidecarHistory) rollOut(what string) {
	h.t.Helper()
	for quiet := 0; quiet < 3; {
		before := h.ready()
		h.pass()
		// The flip of a hot upgrade restarts idle containers of any number of pods.
		if taken := before - h.ready(); taken > h.limit && !h.hot {
			h.t.Fatalf("%s: %d pods were taken at once, the limit is %d", what, taken, h.limit)
		}
		h.second()
		if h.did() == "" {
			quiet++
		} else {
			quiet = 0
		}
		if h.now.Sub(labStart).Hours() > 24 {
			h.t.Fatalf("%s: it does not come to rest", what)
		}
	}
	s, n := h.sidecars(), len(h.pods)
	if int(s.MatchedPods) != n || int(s.ReadyPods) != n || s.UpdatedReadyPods != s.UpdatedPods || int(s.UpdatedPods) < n-min(h.partition, n) {
		h.t.Fatalf("%s: %d pods, status %+v", what, n, s)
	}
	for _, p := range h.pods {
		current := strings.Contains(p.Annotations[kruise.SidecarSetHashAnnotation], h.w.Annotations[kruise.SidecarSetHashAnnotation])
		if runs := strings.Contains(imagesOf(p), fmt.Sprintf("=mesh:%d.0", h.image)); current && !runs {
			h.t.Fatalf("%s: %s says it is updated and runs %s", what, p.Name, imagesOf(p))
		}
	}
}

func (h *sidecarHistory) ready() int {
	n := 0
	for _, p := range h.pods {
		if !p.Deleting && rules.Ready(p) {
			n++
		}
	}
	return n
}
