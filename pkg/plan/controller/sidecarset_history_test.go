package controller

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// TestSidecarSetHistories: a random SidecarSet goes through random images,
// strategies, new and lost pods. No pass takes more ready pods than
// maxUnavailable leaves, and at rest as many are updated as the partition asks
// for.
func TestSidecarSetHistories(t *testing.T) {
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
