package controller

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// daemonHistory is a random Advanced DaemonSet on its way through random changes:
// new images, partitions, nodes that come and go, pods that are lost.
type daemonHistory struct {
	*lab
	rng                            *rand.Rand
	image, partition, limit, burst int
	surge, inPlace                 bool
	nodes                          int
}

// TestDaemonSetHistories: the update alone never takes more available pods than
// the budget; when all has come to rest there is one pod per node, as many
// updated as the partition asks for, and the status says so.
func TestDaemonSetHistories(t *testing.T) {
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
