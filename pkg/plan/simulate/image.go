package simulate

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// pull has an image on a node and goes on then: at once when it is there. Who
// asks for an image that is on its way waits for it with the others.
func (w *World) pull(n *node, image string, then func()) {
	if n == nil || n.images[image] || (w.opt.Agent.Pull == Span{}) {
		if n != nil {
			w.pulls += arrived(n, image)
		}
		then()
		return
	}
	waiting, under := n.pulling[image]
	n.pulling[image] = append(waiting, then)
	if under {
		return
	}
	w.after(w.opt.Agent.Pull.draw(&w.chance), func() {
		n.images[image] = true
		w.rec.pulls++
		w.pulls++
		w.version++
		w.active = w.at
		all := n.pulling[image]
		delete(n.pulling, image)
		for _, resume := range all {
			resume()
		}
	})
}

func (w *World) unpullable(image string) bool {
	return w.opt.Agent.Unpullable != nil && w.opt.Agent.Unpullable(image)
}

// arrived puts an image on a node and returns 1 when it was not there.
func arrived(n *node, image string) uint64 {
	if n.images[image] {
		return 0
	}
	n.images[image] = true
	return 1
}

// pulled is on how many nodes images are, as of two counts of changes.
type pulled struct {
	pulls, moves uint64
	nodes        map[string]int
}

// pulledBy says on how many of the nodes of the pods each image is. It is worked
// out again only when an image has arrived or a pod has come or gone.
func (w *World) pulledBy(o *object, list []*cluster.Pod) map[string]int {
	if o.pulled.nodes != nil && o.pulled.pulls == w.pulls && o.pulled.moves == w.moves {
		return o.pulled.nodes
	}
	out := map[string]int{}
	seen := map[*node]bool{}
	for _, p := range list {
		n := w.nodes[p.Node]
		if n == nil || seen[n] {
			continue
		}
		seen[n] = true
		for image := range n.images {
			out[image]++
		}
	}
	o.pulled = pulled{w.pulls, w.moves, out}
	return out
}
