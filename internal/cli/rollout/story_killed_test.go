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
