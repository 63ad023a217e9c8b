package plan

import (
	"fmt"
	"time"
)

// pull has images pulled. It is asked for until the cluster shows that it was;
// whoever pulls continues by itself.
func (r *run) pull(s *Step) (Decision, bool) {
	if r.progress.Promoted || s.Pull == nil {
		return Decision{}, true
	}
	missing := r.missing(s)
	if len(missing) == 0 {
		return Decision{}, true
	}
	for _, image := range s.Pull.Images {
		if !r.snap.Pulling[image] {
			return r.act(s.Title, Action{Pull: s.Pull}), false
		}
	}
	failed, next := r.pullTroubles(s.Pull.Images)
	if len(failed) > 0 {
		return r.halt(failed...), false
	}
	d := r.unfinished(s, missing...)
	if d.Verb == Wait {
		d.Until = earliest(d.Until, next)
	}
	return d, false
}

// pullTroubles are the nodes that will not get an image, and when the next one will
// have failed: registries have hiccups.
func (r *run) pullTroubles(images []string) (failed []Blocker, next time.Time) {
	for _, image := range images {
		for _, t := range r.snap.Pulls[image].Troubles {
			due := later(t.Since, r.driven()).Add(imageGrace)
			switch {
			case !t.Final && r.now.Before(due):
				next = earliest(next, due)
			case len(failed) < named:
				failed = append(failed, Blocker{Gate: GateImage, Why: fmt.Sprintf("%s cannot be pulled on node %s: %s", image, t.Node, orText(t.Why, "no reason is given"))})
			}
		}
	}
	return failed, next
}

// unpulled names the images that are not on so many nodes, or on all that pods are
// on now: there may be fewer pods than when the plan was made. Where pulling is over
// without a failure, the other nodes are none that anybody pulls on.
func (r *run) unpulled(nodes int) []Blocker {
	pull := r.present().Pull
	if pull == nil {
		return nil
	}
	nodes = min(nodes, nodesOf(r.snap.Members()))
	var out []Blocker
	for _, image := range pull.Images {
		state := r.snap.Pulls[image]
		if n := r.snap.Pulled[image]; n < nodes && (!state.Over || len(state.Troubles) > 0) {
			why := fmt.Sprintf("%s is on %d of %d nodes", image, n, nodes)
			if len(state.Troubles) > 0 {
				why += fmt.Sprintf("; not yet on %s: %s", state.Troubles[0].Node, state.Troubles[0].Why)
			}
			out = append(out, Blocker{Gate: GatePull, Why: why})
		}
	}
	return out
}
