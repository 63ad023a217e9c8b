package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// hotTemplate is what rendering makes of a template and a SidecarSet of HotUpgrade.
const hotTemplate = `template:
    metadata:
      labels: {app: web}
      annotations:
        kruise.io/sidecarset-working-hotupgrade-container: '{"mesh":"mesh-1"}'
        version.sidecarset.kruise.io/mesh-1: "1"
        versionalt.sidecarset.kruise.io/mesh-1: "0"
        version.sidecarset.kruise.io/mesh-2: "0"
        versionalt.sidecarset.kruise.io/mesh-2: "1"
    spec: {containers: [{name: main, image: "web:1"}, {name: mesh-1, image: "mesh:1"}, {name: mesh-2, image: "mesh:empty"}]}
`

func hotCarrier(text string) string {
	before, rest, _ := strings.Cut(text, "template:")
	_, after, _ := strings.Cut(rest, `"web:1"}]`+plain)
	return before + hotTemplate + after
}

// pair reports what runs where in a pod, the working container first.
func pair(p *cluster.Pod) string {
	working := rules.WorkingContainers(p)["mesh"]
	one, _ := p.Container("mesh-1")
	two, _ := p.Container("mesh-2")
	return fmt.Sprintf("%s: %s, %s; versions %s/%s, %s/%s", working, one.Image, two.Image,
		p.Annotations["version.sidecarset.kruise.io/mesh-1"], p.Annotations["version.sidecarset.kruise.io/mesh-2"],
		p.Annotations["versionalt.sidecarset.kruise.io/mesh-1"], p.Annotations["versionalt.sidecarset.kruise.io/mesh-2"])
}

// TestClient_ExchangesHotUpgradeSidecars: the new version starts beside the old one, which is
// emptied once the new one is ready; there and, with the next version, back. In no pod
// is there ever no sidecar at work, no pod is recreated, and no more are down at once
// than may be (docs/kruise/sidecarset.md#hot-upgrade).
func TestClient_ExchangesHotUpgradeSidecars(t *testing.T) {
	for kind, text := range carriers {
		t.Run(kind, func(t *testing.T) {
			text := hotCarrier(text)
			w, ref := world(t, simulate.DefaultOptions(), text)
			born := uids(observe(t, w, ref))
			for _, to := range []struct{ image, want string }{
				{"mesh:2", "mesh-2: mesh:empty, mesh:2; versions 0/2, 2/0"},
				{"mesh:3", "mesh-1: mesh:3, mesh:empty; versions 3/0, 0/3"},
			} {
				p := built(t, w, ref, strings.ReplaceAll(text, "mesh:1", to.image), plan.Policy{Steps: must(plan.ParseSteps("1,50%,100%"))})
				onRecord(t, w, ref, p)
				d, story := drive(t, w, ref, p, func(plan.Decision) { atWork(t, observe(t, w, ref), p.Limits.MaxUnavailable) })
				if d.Verb != plan.Done {
					t.Fatal(strings.Join(story, "\n"))
				}
				s := observe(t, w, ref)
				for _, pod := range s.Pods {
					if got := pair(pod); got != to.want {
						t.Errorf("%s: %s, want %s\n%s", pod.Name, got, to.want, strings.Join(story, "\n"))
					}
				}
				if got := uids(s); got != born {
					t.Errorf("pods were recreated")
				}
			}
		})
	}
}

func onRecord(t *testing.T, w *simulate.World, ref cluster.Ref, p plan.Plan) {
	t.Helper()
	if err := w.Begin(t.Context(), ref, p); err != nil {
		t.Fatal(err)
	}
}

func uids(s plan.Snapshot) string {
	var out []string
	for _, p := range s.Pods {
		out = append(out, p.UID)
	}
	return strings.Join(out, " ")
}

// atWork fails where a pod has no sidecar at work, or where too many are down.
func atWork(t *testing.T, s plan.Snapshot, most int) {
	t.Helper()
	down := 0
	for _, p := range s.Pods {
		works := false
		for _, name := range []string{"mesh-1", "mesh-2"} {
			c, _ := p.Container(name)
			works = works || c.Ready && c.StatusImage != "mesh:empty"
		}
		if !works {
			t.Errorf("%s has no sidecar at work: %s", p.Name, pair(p))
		}
		if ready, _ := p.Condition("Ready"); ready.Status != "True" {
			down++
		}
	}
	if down > most {
		t.Errorf("%d pods are down, %d may be", down, most)
	}
}

// With a change of the application beside it, one update does both, and the pod leaves
// its Services as for any restart.
func TestClient_ExchangesSidecarsWithAnApplicationUpdate(t *testing.T) {
	text := strings.Replace(hotCarrier(carriers["ReplicaSet"]), "labels: {app: web}\n", "labels: {app: web, kubectl-kruise.dev/in-service: \"true\"}\n", 1)
	w, ref := world(t, simulate.DefaultOptions(), text)
	for _, c := range []struct {
		next   string
		drains bool
	}{
		{strings.ReplaceAll(text, "mesh:1", "mesh:2"), false},
		{strings.NewReplacer("mesh:1", "mesh:3", "web:1", newer).Replace(text), true},
	} {
		p := built(t, w, ref, c.next, plan.Policy{Steps: must(plan.ParseSteps("100%")), Pull: plan.PullNever})
		onRecord(t, w, ref, p)
		drained := false
		d, story := drive(t, w, ref, p, func(plan.Decision) {
			for _, pod := range observe(t, w, ref).Pods {
				_, in := pod.Labels["kubectl-kruise.dev/in-service"]
				drained = drained || !in
			}
		})
		if d.Verb != plan.Done || drained != c.drains {
			t.Errorf("drained: %v, want %v\n%s", drained, c.drains, strings.Join(story, "\n"))
		}
	}
	if n, all := updated(observe(t, w, ref)); n != all {
		t.Errorf("%d of %d pods run %s", n, all, newer)
	}
}
