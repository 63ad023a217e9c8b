package compare

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// workload says what the change of a workload does to its pods, and returns what
// each field of the template asks for.
func (c *comparison) workload(ch *Change, p pair) []rules.FieldChange {
	old, now := ch.read(p.old, p.now)
	if now == nil {
		return nil
	}
	r, asked, err := c.roll(ch, old, now, c.crowd(p.old, old), c.crowd(p.now, now))
	if err != nil {
		ch.refuse(err)
		return nil
	}
	if r.From > 0 && r.To == 0 {
		ch.add(Loss, "spec.replicas", "no pod is left")
	}
	ch.Rollout = r
	return asked
}

// read reads both states of a workload; nil when one cannot be read. Of the old one
// that is what the change repairs, or the same on both sides.
func (ch *Change) read(old, now *resource.Resource) (before, after *cluster.Workload) {
	before, err := cluster.ReadWorkload(old.Node())
	if err != nil {
		return nil, nil
	}
	if after, err = cluster.ReadWorkload(now.Node()); err != nil {
		ch.refuse(err)
		return nil, nil
	}
	after.Namespace = before.Namespace // written out or not
	return before, after
}

// crowd is how many pods an object stands for, -1 where that cannot be known: a
// manifest without replicas leaves them to somebody else.
func (c *comparison) crowd(r *resource.Resource, w *cluster.Workload) int {
	t := cluster.Of(w.Object)
	if scheduled, ok := t.Scheduled(); ok {
		return c.nodes(scheduled, t.Template().Spec.NodeSelector)
	}
	if n, ok := tree.Int(tree.Get(r.Node(), "spec", "replicas")); ok {
		return int(n)
	}
	return -1
}

// nodes is for how many nodes a DaemonSet has a pod: as its status says, or as
// many as its node selector finds among those that are known.
func (c *comparison) nodes(scheduled int, selector map[string]string) int {
	if scheduled > 0 {
		return scheduled
	}
	all, n := c.now.facts.All("", "Node"), 0
	for _, node := range all {
		labels := node.Labels()
		fits := true
		for key, value := range selector {
			fits = fits && labels[key] == value
		}
		if fits {
			n++
		}
	}
	if len(all) == 0 {
		return -1
	}
	return n
}
