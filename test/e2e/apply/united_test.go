package apply

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const zones = `
apiVersion: apps.kruise.io/v1beta1
kind: UnitedDeployment
metadata: {name: web}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    cloneSetTemplate:
      metadata: {labels: {app: web}}
      spec:
        selector: {matchLabels: {app: web}}
        updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 2}}
        template:
          metadata: {labels: {app: web}}
          spec: {containers: [{name: main, image: "registry.example.com/web:1"}]}
  topology: {subsets: [{name: zone-b, replicas: 2}, {name: zone-a}]}
`

// subsets are how many pods of each subset run which image.
func (b *bed) subsets(t *testing.T) map[string]int {
	t.Helper()
	list, err := b.Client().CoreV1().Pods(b.namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	out := map[string]int{}
	for i := range list.Items {
		p := &list.Items[i]
		if p.DeletionTimestamp == nil {
			out[p.Labels["apps.kruise.io/subset-name"]+" "+strings.TrimPrefix(p.Spec.Containers[0].Image, "registry.example.com/web:")]++
		}
	}
	return out
}

// TestApply_RollsOutSubsetBySubset: a new template comes to subset after subset, each by a plan; a rollout
// that was left continues; the rest of the manifest is applied.
func TestApply_RollsOutSubsetBySubset(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.done(t, zones).has(t, "uniteddeployment.apps.kruise.io/web created")
	if got := b.subsets(t); got["zone-b 1"] != 2 || got["zone-a 1"] != 3 {
		t.Fatalf("not waited for: %v", got)
	}
	two := strings.NewReplacer("web:1", "web:2", "replicas: 5", "replicas: 6").Replace(zones)
	how := []string{"--yes", "--pull-images", "never", "--steps", "50%,100%", "--pause-after", "50%", "--exit-on-pause"}
	a := b.apply(t, two, how...)
	a.is(t, 5, "rolls out its subsets one after the other: zone-b, zone-a")
	if got := b.subsets(t); got["zone-b 2"] != 1 || got["zone-a 2"] != 0 || got["zone-a 1"] != 4 {
		t.Fatalf("at the first pause: %v\n%s%s", got, a.out, a.err)
	}
	if a := b.apply(t, strings.Replace(two, "web:2", "web:3", 1), how...); a.code != 1 || !strings.Contains(a.err, "has a rollout already") {
		t.Errorf("another template meanwhile: exit %d\n%s", a.code, a.err)
	}
	for range 2 {
		b.promote(t)
		a = b.apply(t, two, how...)
	}
	a.is(t, 0)
	a.has(t, "uniteddeployment.apps.kruise.io/web rolled out")
	if got := b.subsets(t); got["zone-b 2"] != 2 || got["zone-a 2"] != 4 {
		t.Errorf("in the end: %v", got)
	}
	b.done(t, two).has(t, "uniteddeployment.apps.kruise.io/web unchanged")

	held := strings.Replace(two, "web:2", "web:3", 1) + "  updateStrategy: {type: Manual, manualUpdate: {partitions: {zone-a: 3}}}\n"
	b.done(t, held, "--pull-images", "never")
	if got := b.subsets(t); got["zone-b 3"] != 2 || got["zone-a 3"] != 1 || got["zone-a 2"] != 3 {
		t.Errorf("with a partition: %v", got)
	}
}

// promote promotes all rollouts that are paused.
func (b *bed) promote(t *testing.T) {
	t.Helper()
	for _, name := range b.cloneSets(t) {
		b.run(t, "", "rollout", "promote", "cloneset/"+name, "--no-wait") // one that has not begun cannot be
	}
}
