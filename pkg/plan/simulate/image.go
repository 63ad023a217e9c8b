package simulate

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// pull has an image on a node and goes on then: at once when it is there. Who
// asks for an image that is on its way waits for it with the others.
func (w *World) pull(n *node, image string, then func()) {
	if n == nil || n.images[image] || (w.opt.Agent.Pull == Span{}) {
		if n != nil {
			n.images[image] = true
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
		w.version++
		w.active = w.at
		all := n.pulling[image]
		delete(n.pulling, image)
		for _, go1 := range all {
			go1()
		}
	})
}

func (w *World) unpullable(image string) bool {
	return w.opt.Agent.Unpullable != nil && w.opt.Agent.Unpullable(image)
}

// pulled says on how many of the nodes of the pods each of their images is, and
// each image that a plan has had pulled.
func (w *World) pulled(list []*cluster.Pod) map[string]int {
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
	return out
}
