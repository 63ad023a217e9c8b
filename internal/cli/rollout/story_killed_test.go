package rollout_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
)

// TestKilled_AtEachWrite: a process is killed at each of its writes, before the server has it or before it has the answer.
// What is done next, by the same user, comes to the same end.
func TestKilled_AtEachWrite(t *testing.T) {
	const run = " --yes --pull-images never --steps 100% --image main=registry.example.com/web:"
	for name, c := range map[string]struct {
		objects []string
		line    string
		pods    int
		// next are the commands after it, of which the last one has to succeed.
		next []string
	}{
		"CloneSet":   {[]string{story.CloneSet("web", "2", "web:0")}, "rollout run cloneset/web" + run, 2, []string{"rollout resume cloneset/web", "rollout run cloneset/web" + run}},
		"Deployment": {[]string{deployment}, "rollout run deployment/web" + run, 2, []string{"rollout resume deployment/web", "rollout run deployment/web" + run}},
		"group": {
			[]string{story.CloneSet("web", "1", "web:0"), story.CloneSet("api", "1", "web:0")},
			"rollout run cloneset -l team=shop --group all" + run, 2,
			[]string{"rollout resume --group all", "rollout run cloneset -l team=shop --group all" + run},
		},
		"UnitedDeployment": {
			[]string{strings.NewReplacer("replicas: 5", "replicas: 2", "replicas: 2}", "replicas: 1}", "replicas: 3}", "replicas: 1}", "web:1", "web:0").Replace(united)},
			"rollout run ud/web" + run, 2,
			[]string{"rollout run ud/web --yes --pull-images never", "rollout run ud/web" + run},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := story.Start(t, c.pods, c.objects...)
			for n := 0; ; n++ {
				image := fmt.Sprint(n + 1)
				died, res := s.KilledAt(n, n%2 == 1, c.line+image)
				if died == "" {
					res.Ends(0)
					s.Has("", images{"web:" + image: c.pods})
					t.Logf("%d writes", n)
					return
				}
				t.Logf("write %d: %s", n, died)
				for i, line := range c.next {
					if strings.HasSuffix(line, ":") {
						line += image
					}
					res := s.Run(line)
					if i == len(c.next)-1 {
						res.Ends(0)
					}
				}
				s.Has("", images{"web:" + image: c.pods})
			}
		})
	}
}

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: "registry.example.com/web:0"}]}
`

// TestKilled_WhileItRollsBack: a process is killed while it rolls several workloads back, after the way back of one is
// recorded and before anything of it is written. The same command continues it; what continues one subset alone
// says that the others were not rolled back.
func TestKilled_WhileItRollsBack(t *testing.T) {
	t.Parallel()
	// dies has a rollback die at its first write, from a number on, that has a word. On a busy machine a lease is renewed
	// in one run and not in the next, which moves the numbers: it looks again from the first one then.
	dies := func(s *story.Story, from int, line, word string, begin func()) {
		again := 3
		for n := from; ; n++ {
			begin()
			died, _ := s.KilledAt(n, false, line)
			if died == "" {
				if again--; again < 0 {
					s.Fatalf("%s has no write with %s", line, word)
				}
				n = from - 1
				continue
			}
			if strings.Contains(died, word) {
				return
			}
			s.Run(line).Ends(0)
		}
	}
	t.Run("group", func(t *testing.T) {
		s, group := waves(t, "0", "0")
		const back = "rollout abort --group all --rollback --yes"
		dies(s, 9, back, "clonesets/web-", func() { s.Run(group + " --group all --steps 50%,100% --pause-after 1 --exit-on-pause").Ends(5) })
		s.Run(back).Ends(0)
		s.Has("", images{"web:1": 4})
	})
	for _, by := range []string{"abort ud/web --rollback --yes", "resume"} {
		t.Run(by, func(t *testing.T) {
			s := unitedOf(t, "cloneSetTemplate")
			const back = "rollout abort ud/web --rollback --yes"
			run := "rollout run ud/web --pull-images never --yes --steps 50%,100% --pause-after 50% --exit-on-pause"
			dies(s, 4, back, "uniteddeployments/web", func() {
				s.Run(run + " --image main=registry.example.com/web:2").Ends(5)
				s.Run("rollout promote ud/web --yes").Ends(0)
				s.Run(run).Ends(5)
			})
			if by == "resume" {
				s.Run("rollout resume ud/web").Ends(3, "UnitedDeployment web is not rolled out", "zone-b")
			}
			s.Run(back).Ends(0)
			rests(s, "1")
		})
	}
}
