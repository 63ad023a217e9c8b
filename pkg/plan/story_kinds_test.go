package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// manifest is a workload with a strategy, written in one line of YAML.
func manifest(apiVersion, kind, spec string) string {
	return fmt.Sprintf(`
apiVersion: %s
kind: %s
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}]%s
`, apiVersion, kind, spec)
}

const (
	plain   = "}\n"
	gated   = ", readinessGates: [{conditionType: InPlaceUpdateReady}]}\n"
	newer   = "web:2"
	alpha   = "apps.kruise.io/v1alpha1"
	beta    = "apps.kruise.io/v1beta1"
	natives = "apps/v1"
)

// kinds are workloads that a rollout brings from web:1 to web:2.
var kinds = map[string]string{
	"CloneSet v1alpha1":  manifest(alpha, "CloneSet", plain+"  replicas: 7\n  updateStrategy: {type: InPlaceIfPossible}\n"),
	"CloneSet v1beta1":   manifest(beta, "CloneSet", plain+"  replicas: 7\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}\n"),
	"CloneSet surge":     manifest(beta, "CloneSet", plain+"  replicas: 5\n  updateStrategy: {rollingUpdate: {maxSurge: 1}}\n"),
	"StatefulSet":        manifest(beta, "StatefulSet", gated+"  replicas: 5\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}\n"),
	"DaemonSet":          manifest(alpha, "DaemonSet", plain),
	"DaemonSet in place": manifest(beta, "DaemonSet", plain+"  updateStrategy: {rollingUpdate: {rollingUpdateType: InPlaceIfPossible}}\n"),
	"native Deployment":  manifest(natives, "Deployment", plain+"  replicas: 6\n"),
	"native StatefulSet": manifest(natives, "StatefulSet", plain+"  replicas: 4\n"),
	"native DaemonSet":   manifest(natives, "DaemonSet", plain),
}

// TestRolloutOfEachKind carries the plan of each kind out on the model cluster, by
// the default steps and by others, and counts at the end of each step.
func TestRolloutOfEachKind(t *testing.T) {
	for name, text := range kinds {
		for _, steps := range []string{"", "2,60%,100%"} {
			t.Run(name+" "+steps, func(t *testing.T) {
				policy := plan.Policy{}
				if steps != "" {
					policy.Steps = must(plan.ParseSteps(steps))
				}
				w, ref := world(t, simulate.Usual(), text)
				p := built(t, w, ref, strings.ReplaceAll(text, "web:1", newer), policy)
				at := -1
				d, story := drive(t, w, ref, p, func(d plan.Decision) {
					if d.Step != at && at >= 0 {
						checkUpdated(t, w, ref, p, at)
					}
					at = d.Step
				})
				if d.Verb != plan.Done {
					t.Fatal(strings.Join(story, "\n"))
				}
				if n, all := updated(observe(t, w, ref)); n != all || all == 0 {
					t.Errorf("%d of %d pods run %s at the end", n, all, newer)
				}
			})
		}
	}
}

// checkUpdated holds a step that is done to its promise.
func checkUpdated(t *testing.T, w *simulate.World, ref cluster.Ref, p plan.Plan, step int) {
	t.Helper()
	s := &p.Steps[step]
	n, all := updated(observe(t, w, ref))
	if ref.Kind == "Deployment" {
		if n < s.Updated {
			t.Errorf("step %s: %d of %d pods are updated, promised %d", s.Name, n, all, s.Updated)
		}
		return
	}
	if n != s.Updated {
		t.Errorf("step %s: %d of %d pods are updated, promised %d", s.Name, n, all, s.Updated)
	}
}

// updated counts the living pods that run the new image.
func updated(s plan.Snapshot) (n, all int) {
	for _, p := range s.Pods {
		if p.Deleting {
			continue
		}
		all++
		if c, _ := p.Container("main"); c.Image == newer {
			n++
		}
	}
	return n, all
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
