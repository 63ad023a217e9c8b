package simulate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestMemory_ChangesNoDecision: at every moment of rollouts of every kind, well or badly, a
// decision that goes by what is remembered is the one that reads every pod, with and without a
// record of the changes of pods.
func TestMemory_ChangesNoDecision(t *testing.T) {
	for name, text := range midwayKinds() {
		for _, fails := range []bool{false, true} {
			o := DefaultOptions()
			if fails {
				o.Agent.Unpullable = func(image string) bool { return image == "web:2" }
			}
			w := New(o)
			w.AddNode("n1", nil)
			docs := documents(t, text)
			must(t, w.Apply(docs...))
			if ok, err := w.Settle(time.Hour); !ok || err != nil {
				t.Fatal(ok, err)
			}
			ref := refOf(docs[0])
			p, err := planOfImage(w, ref, "web:2", plan.Policy{Pull: plan.PullNever})
			must(t, err)
			p.HookAnswer = 30 * time.Second
			d, err := newDriver(w, p, RolloutOptions{Promote: new(time.Duration)})
			must(t, err)
			decisions, seen, recorded := 0, plan.Memory{}, plan.Memory{PodChanges: w.store.podChangesOf(w.store.objects[ref])}
			for ; w.recorder.outcome == ""; decisions++ {
				s, err := w.Snapshot(ref)
				must(t, err)
				now := w.clock.now()
				want := plan.Next(p, s, now)
				for _, memory := range []*plan.Memory{&seen, &recorded} {
					if diff := cmp.Diff(want, memory.Next(p, s, now)); diff != "" {
						t.Fatalf("%s, fails %t, record %t, decision %d (-read, +remembered):\n%s", name, fails, memory.PodChanges != nil, decisions, diff)
					}
				}
				must(t, d.step())
			}
			want := map[bool]Outcome{false: Completed, true: Failed}[fails]
			if got := w.recorder; decisions < 5 || got.outcome != want {
				t.Errorf("%s, fails %t: the rollout is %s after %d decisions, want %s: %s", name, fails, got.outcome, decisions, want, got.reason)
			}
		}
	}
}
