package simulate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// scenario is a world with five nodes, n0 to n4, in which one object is watched.
// Its pods are p1, p2 … in the order in which they were made.
type scenario struct {
	*World
	t     *testing.T
	ref   cluster.Ref
	names map[string]string
}

// play applies documents, the first of which is watched, and waits until all is
// quiet. Pods come up more than a second apart when they are given one by one.
func play(t *testing.T, text string) *scenario {
	t.Helper()
	o := lab()
	o.Agent.Unpullable = []string{":bad"}
	o.Agent.Override = steered
	s := &scenario{World: New(o), t: t, names: map[string]string{}}
	for i := range 5 {
		s.AddNode(fmt.Sprintf("n%d", i), map[string]string{"name": fmt.Sprintf("n%d", i)})
	}
	s.creator.onCreate = func(e *pod) { s.names[e.Name] = fmt.Sprintf("p%d", len(s.names)+1) }
	docs, err := conformance.Docs([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for i, doc := range docs {
		n := tree.FromValue(doc)
		if i == 0 {
			s.ref = refOf(n)
		}
		if err := s.Apply(n); err != nil {
			t.Fatal(err)
		}
		s.settle()
	}
	return s
}

func (s *scenario) settle() {
	s.t.Helper()
	if ok, err := s.clock.settle(30*time.Second, time.Hour); !ok || err != nil {
		s.t.Fatalf("it does not settle: %v", err)
	}
}

// grow adds a replica every two seconds, so that the pods are ready one after
// another.
func (s *scenario) grow(ref cluster.Ref, replicas int) {
	s.t.Helper()
	for n := 1; n <= replicas; n++ {
		s.patch(ref, fmt.Sprintf("{spec: {replicas: %d}}", n))
		if err := s.Run(s.Now().Add(2 * time.Second)); err != nil {
			s.t.Fatal(err)
		}
	}
	s.settle()
}

func (s *scenario) patch(ref cluster.Ref, text string) {
	s.t.Helper()
	v, _ := tree.Value(parse(s.t, text)).(map[string]any)
	if err := s.MergePatch(ref, v); err != nil {
		s.t.Fatal(err)
	}
}

// step patches the watched object, waits, and returns what was done to pods, wave
// by wave.
func (s *scenario) step(text string) []string {
	s.t.Helper()
	s.watch()
	s.patch(s.ref, text)
	s.settle()
	return s.waves()
}

func (s *scenario) watch() {
	s.t.Helper()
	if err := s.Watch(s.ref); err != nil {
		s.t.Fatal(err)
	}
}

// acts are the ops that a wave shows.
var acts = []Op{OpInPlace, OpApplyImages, OpSidecarUpdate, OpMarkDelete, OpCreate, OpDelete}

// waves groups acts as the recordings do: a wave ends when nothing was done for
// 0.45 s. Inside it they are sorted.
func (s *scenario) waves() []string {
	var out []string
	var wave []string
	last := time.Duration(-1)
	end := func() {
		if len(wave) > 0 {
			slices.Sort(wave)
			out, wave = append(out, strings.Join(wave, ", ")), nil
		}
	}
	for _, r := range s.Timeline().Records {
		if !slices.Contains(acts, r.Op) {
			continue
		}
		if last >= 0 && r.At-last > 450*time.Millisecond {
			end()
		}
		last = r.At
		wave = append(wave, string(r.Op)+" "+s.names[r.Pod])
	}
	end()
	return out
}

func (s *scenario) expect(what string, want, got []string) {
	s.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("%s: -want +got:\n%s", what, diff)
	}
}

// pods shows the images of each pod, by the order of creation.
func (s *scenario) images() map[string]string {
	out := map[string]string{}
	for _, p := range s.store.all.now {
		var images []string
		for _, c := range p.Containers {
			images = append(images, c.Image)
		}
		out[s.names[p.Name]] = strings.Join(images, " ")
	}
	return out
}

var webRef = cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "web"}

const webSet = `
---
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1.0"}]}
`

func sidecarSet(strategy, container string) string {
	return `
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: mesh}
spec:
  selector: {matchLabels: {app: web}}
  updateStrategy: {` + strategy + `}
  containers: [{name: mesh, image: "mesh:1.0"` + container + `}]
` + webSet
}

func meshImage(image, container string) string {
	return `{spec: {containers: [{name: mesh, image: "` + image + `"` + container + `}]}}`
}

// TestScenario_HotUpgrade is case 306: both upgrades, one pod after the other, each
// in two acts. Whoever was upgraded last has been ready for the shortest time.
func TestScenario_HotUpgrade(t *testing.T) {
	const hot = ", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: 'mesh:empty'}"
	s := play(t, sidecarSet("", hot))
	s.grow(webRef, 3)
	s.expect("mesh 2.0", []string{
		"sidecarUpdate p3", "applyImages p3", "sidecarUpdate p2", "applyImages p2", "sidecarUpdate p1", "applyImages p1",
	}, s.step(meshImage("mesh:2.0", hot)))
	for i, image := range s.images() {
		if image != "mesh:empty mesh:2.0 web:1.0" {
			t.Errorf("%s: %s", i, image)
		}
	}
	s.expect("mesh 3.0", []string{
		"sidecarUpdate p1", "applyImages p1", "sidecarUpdate p2", "applyImages p2", "sidecarUpdate p3", "applyImages p3",
	}, s.step(meshImage("mesh:3.0", hot)))
	if got := s.images()["p1"]; got != "mesh:3.0 mesh:empty web:1.0" {
		t.Errorf("p1: %s", got)
	}
}

// TestScenario_SidecarPriority is case 308.
func TestScenario_SidecarPriority(t *testing.T) {
	s := play(t, sidecarSet("partition: 2, priorityStrategy: {weightPriority: [{weight: 50, matchSelector: {matchLabels: {prio: high}}}]}", ""))
	s.grow(webRef, 5)
	for _, name := range []string{"p1", "p3"} {
		s.label(name, "prio", "high")
	}
	s.settle()
	s.expect("under partition 2", []string{"sidecarUpdate p3", "sidecarUpdate p1", "sidecarUpdate p5"}, s.step(meshImage("mesh:2.0", "")))
	s.expect("partition 0", []string{"sidecarUpdate p4", "sidecarUpdate p2"}, s.step("{spec: {updateStrategy: {partition: 0}}}"))
}

func (s *scenario) label(name, key, value string) {
	for _, e := range s.store.podsByUID {
		if s.names[e.Name] == name {
			s.pods.change(e, cluster.PodChange{Labels: map[string]*string{key: &value}}, "")
		}
	}
}

// TestScenario_SidecarBadImage is case 311: the first pod fails and holds the others; the good
// image repairs it first. Those that it repairs run before the controller has written the next
// pod, so never more than two are unavailable.
func TestScenario_SidecarBadImage(t *testing.T) {
	s := play(t, sidecarSet("maxUnavailable: 2", ""))
	s.grow(webRef, 5)
	s.expect("bad", []string{"sidecarUpdate p4, sidecarUpdate p5"}, s.step(meshImage("mesh:bad", "")))
	s.expect("good", []string{"sidecarUpdate p2, sidecarUpdate p3, sidecarUpdate p4, sidecarUpdate p5", "sidecarUpdate p1"}, s.step(meshImage("mesh:2.0", "")))
	if down := s.recorder.extremes.down; down != 2 {
		t.Errorf("%d pods were down at once", down)
	}
	if diff := cmp.Diff("mesh:2.0 web:1.0", s.images()["p5"]); diff != "" {
		t.Error(diff)
	}
}

// guarded is a CloneSet of five, ready one after another, with a budget.
func guarded(t *testing.T, rolling, budget string) *scenario {
	t.Helper()
	s := play(t, edited(webSet, "podUpdatePolicy: InPlaceIfPossible", rolling)+`
---
apiVersion: policy.kruise.io/v1alpha1
kind: PodUnavailableBudget
metadata: {name: web-pub, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, `+budget+`}
`)
	s.grow(webRef, 5)
	return s
}

const newImage = `{spec: {template: {spec: {containers: [{name: main, image: "web:2.0"}]}}}}`

// TestScenario_BudgetInPlace is case 401: a permit is held for ten seconds, though
// the pod is ready again after one.
func TestScenario_BudgetInPlace(t *testing.T) {
	s := guarded(t, "podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 3", "maxUnavailable: 1")
	s.expect("new image", []string{"inPlaceUpdate p5", "inPlaceUpdate p4", "inPlaceUpdate p3", "inPlaceUpdate p2", "inPlaceUpdate p1"}, s.step(newImage))
	var at []time.Duration
	for _, r := range s.Timeline().Records {
		if r.Op == OpInPlace {
			at = append(at, r.At)
		}
	}
	for i := 1; i < len(at); i++ {
		if d := at[i] - at[i-1]; d < 9*time.Second || d > 12*time.Second {
			t.Errorf("act %d came after %v", i+1, d)
		}
	}
	if most := s.Timeline().Summary.MostDown; most != 1 {
		t.Errorf("%d pods were down at once", most)
	}
}

// TestScenario_BudgetOfTwo takes two per ten seconds (404).
func TestScenario_BudgetOfTwo(t *testing.T) {
	s := guarded(t, "podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 2", "minAvailable: 60%")
	s.expect("new image", []string{"inPlaceUpdate p4, inPlaceUpdate p5", "inPlaceUpdate p2, inPlaceUpdate p3", "inPlaceUpdate p1"}, s.step(newImage))
}

// TestScenario_BudgetRecreate has no such wait: the permit ends with the pod (403).
func TestScenario_BudgetRecreate(t *testing.T) {
	s := guarded(t, "podUpdatePolicy: ReCreate, maxUnavailable: 3", "maxUnavailable: 1")
	s.expect("new image", []string{
		"create p6, delete p5, markDelete p5", "create p7, delete p4, markDelete p4", "create p8, delete p3, markDelete p3",
		"create p9, delete p2, markDelete p2", "create p10, delete p1, markDelete p1",
	}, s.step(newImage))
	if all := s.Timeline().Records; all[len(all)-1].At > 10*time.Second {
		t.Errorf("it took %v", all[len(all)-1].At)
	}
}

// TestScenario_BudgetAllowsNothing: not even a label changes (413), and the reason is reported.
func TestScenario_BudgetAllowsNothing(t *testing.T) {
	s := guarded(t, "podUpdatePolicy: InPlaceIfPossible", "minAvailable: 100%")
	if err := s.Watch(s.ref); err != nil {
		t.Fatal(err)
	}
	s.patch(s.ref, "{spec: {template: {metadata: {labels: {tier: gold}}}}}")
	if err := s.Run(s.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	s.expect("a label", nil, s.waves())
}

// TestScenario_BudgetWithSpecifiedDeletes is case 412: marked pods go one at a time, though the
// CloneSet would let two go.
func TestScenario_BudgetWithSpecifiedDeletes(t *testing.T) {
	s := guarded(t, "podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 2", "maxUnavailable: 1")
	s.watch()
	for _, name := range []string{"p1", "p2", "p3"} {
		s.label(name, "apps.kruise.io/specified-delete", "true")
	}
	s.settle()
	got := s.waves()
	for i, wave := range got {
		if strings.Count(wave, "delete ") != 1 || !strings.Contains(wave, fmt.Sprintf("create p%d", 6+i)) {
			t.Errorf("wave %q", wave)
		}
	}
	if most := s.Timeline().Summary.MostDown; most != 1 || len(got) != 3 {
		t.Errorf("%d down at once: %q", most, got)
	}
}

// TestScenario_BudgetByHand is case 402: the second deletion and the second
// eviction are refused.
func TestScenario_BudgetByHand(t *testing.T) {
	s := guarded(t, "podUpdatePolicy: InPlaceIfPossible", "maxUnavailable: 1")
	pod := func(name string) plan.PodRef {
		for _, e := range s.store.podsByUID {
			if s.names[e.Name] == name {
				return plan.PodRef{Namespace: e.Namespace, Name: e.Name, UID: e.UID}
			}
		}
		t.Fatalf("no pod %s", name)
		return plan.PodRef{}
	}
	if err := s.pods.deleteByHand(pod("p1")); err != nil {
		t.Error(err)
	}
	if err := s.pods.deleteByHand(pod("p2")); !errors.Is(err, plan.ErrRefused) {
		t.Errorf("the second deletion: %v", err)
	}
	s.settle()
	if err := s.EvictPod(pod("p2")); err != nil {
		t.Error(err)
	}
	if err := s.EvictPod(pod("p3")); !errors.Is(err, plan.ErrRefused) {
		t.Errorf("the second eviction: %v", err)
	}
	s.settle()
	if len(s.images()) != 5 {
		t.Errorf("pods %v", s.images())
	}
}

// TestScenario_BudgetRefusesDaemonSet is case 411: the DaemonSet may take three,
// the budget lets one go at a time.
func TestScenario_BudgetRefusesDaemonSet(t *testing.T) {
	s := play(t, daemons("maxUnavailable: 3")+`
---
apiVersion: policy.kruise.io/v1alpha1
kind: PodUnavailableBudget
metadata: {name: web-pub, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, minAvailable: 4}
`)
	waves := s.step(newImage)
	sum := s.Timeline().Summary
	if sum.MostDown != 1 || len(s.images()) != 5 {
		t.Errorf("%d down at once: %q", sum.MostDown, waves)
	}
	for name, image := range s.images() {
		if image != "web:2.0" {
			t.Errorf("%s runs %s", name, image)
		}
	}
}
