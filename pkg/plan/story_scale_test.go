package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// scalable are workloads that have replicas, by every driver that each can have.
var scalable = map[string]string{
	"CloneSet":                  manifest(beta, "CloneSet", plain+"  replicas: %d\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}\n"),
	"Advanced StatefulSet":      manifest(beta, "StatefulSet", gated+"  replicas: %d\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}\n"),
	"Deployment":                manifest(natives, "Deployment", plain+"  replicas: %d\n"),
	"StatefulSet":               manifest(natives, "StatefulSet", plain+"  replicas: %d\n"),
	"ReplicaSet by the client":  manifest(natives, "ReplicaSet", plain+"  replicas: %d\n"),
	"StatefulSet by the client": manifest(natives, "StatefulSet", plain+"  replicas: %d\n  updateStrategy: {type: OnDelete}\n"),
}

// TestRolloutThatScales: a workload whose number of pods changes, with its template or
// alone, is done when every pod is there and ready, not when the last has merely been
// made.
func TestRolloutThatScales(t *testing.T) {
	for name, text := range scalable {
		for _, image := range []string{"web:1", newer} {
			for _, size := range [][2]int{{3, 5}, {5, 3}} {
				t.Run(fmt.Sprint(name, " to ", image, " ", size), func(t *testing.T) {
					w, ref := world(t, simulate.Usual(), fmt.Sprintf(text, size[0]))
					next := strings.ReplaceAll(fmt.Sprintf(text, size[1]), "web:1", image)
					p := built(t, w, ref, next, plan.Policy{})
					d, story := drive(t, w, ref, p, nil)
					if d.Verb != plan.Done {
						t.Fatal(strings.Join(story, "\n"))
					}
					n, last := plan.Count(p, observe(t, w, ref)), p.Steps[len(p.Steps)-1]
					if n.Total != size[1] || n.Ready != size[1] || image == newer && n.Updated != size[1] || last.Updated != size[1] || last.Kept != 0 {
						t.Errorf("done with %+v; the last step promises %d updated, %d kept", n, last.Updated, last.Kept)
					}
				})
			}
		}
	}
}

// TestShrinkingOfWhatIsBroken: pods that never become ready do not keep a workload from
// shrinking: the template that comes next is what mends them.
func TestShrinkingOfWhatIsBroken(t *testing.T) {
	for _, name := range []string{"CloneSet", "ReplicaSet by the client"} {
		t.Run(name, func(t *testing.T) {
			o := simulate.Usual()
			o.Agent.Override = func(p *cluster.Pod) simulate.Override {
				c, _ := p.Container("main")
				return simulate.Override{Unready: c.Image != newer}
			}
			w, ref := world(t, o, fmt.Sprintf(scalable[name], 5))
			p := built(t, w, ref, strings.ReplaceAll(fmt.Sprintf(scalable[name], 3), "web:1", newer), plan.Policy{})
			if d, story := drive(t, w, ref, p, nil); d.Verb != plan.Done {
				t.Fatal(strings.Join(story, "\n"))
			}
			if n := plan.Count(p, observe(t, w, ref)); n.UpdatedReady != 3 || n.Total != 3 {
				t.Errorf("%+v", n)
			}
		})
	}
}
