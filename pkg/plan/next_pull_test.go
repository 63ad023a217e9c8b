package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestPull: asked for once, waited for, and failed by node.
func TestPull(t *testing.T) {
	trouble := func(final bool) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			s.Pulls = map[string]plan.PullState{newer: {Troubles: []plan.PullTrouble{{Node: "node-1", Why: "ErrImagePull", Final: final, Since: noon.Add(30 * time.Second)}}}}
		}
	}
	for name, c := range map[string]struct {
		pulling bool
		pulled  int
		spoil   func(*plan.Snapshot)
		at      time.Duration
		want    string
		until   time.Duration
	}{
		"not asked":      {false, 0, nil, time.Minute, "0 act pull 1 image on 3 nodes", 0},
		"under way":      {true, 2, nil, time.Minute, "0 wait pull: web:2 is on 2 of 3 nodes", 11 * time.Minute},
		"there":          {true, 3, nil, time.Minute, "1 act", 0},
		"there already":  {false, 3, nil, time.Minute, "1 act", 0},
		"fewer nodes":    {true, 1, func(s *plan.Snapshot) { s.Pods = s.Pods[:1] }, time.Minute, "1 act", 0},
		"failed":         {true, 2, trouble(true), time.Minute, "0 halt image: web:2 cannot be pulled on node node-1: ErrImagePull", 0},
		"hiccup":         {true, 2, trouble(false), time.Minute, "0 wait pull: web:2 is on 2 of 3 nodes; not yet on node-1: ErrImagePull", 90 * time.Second},
		"no hiccup":      {true, 2, trouble(false), 90 * time.Second, "0 halt image: web:2 cannot be pulled on node node-1: ErrImagePull", 0},
		"no agent there": {true, 2, func(s *plan.Snapshot) { s.Pulls = map[string]plan.PullState{newer: {Over: true}} }, time.Minute, "1 act", 0},
		"too long":       {true, 2, nil, time.Hour, "0 halt deadline: step pull is not done after 11m0s", 0},
		"promoted":       {false, 0, func(s *plan.Snapshot) { s.Progress.Promoted = true }, time.Minute, "1 act", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, clones(""), 10)
			for i, p := range s.Pods {
				p.Node = fmt.Sprint("node-", i%3)
			}
			p, err := plan.Build(read(t, strings.ReplaceAll(clones(""), "web:1", newer)), s, plan.Policy{Pull: plan.PullFirst})
			if err != nil {
				t.Fatal(err)
			}
			s.Progress.Started = noon
			s.Pulling, s.Pulled = map[string]bool{newer: c.pulling}, map[string]int{newer: c.pulled}
			if c.spoil != nil {
				c.spoil(&s)
			}
			p.Steps[0].Timeout = 11 * time.Minute
			d := decide(t, p, s, noon.Add(c.at))
			if got := fmt.Sprintf("%d %s %s", d.Step, d.Verb, d.Reason); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
			if c.until != 0 && !d.Until.Equal(noon.Add(c.until)) {
				t.Errorf("looks again at %s", d.Until)
			}
		})
	}
}
