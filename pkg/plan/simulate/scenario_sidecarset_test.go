package simulate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

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

// TestScenarioHotUpgrade is case 306: both upgrades, one pod after the other, each
// in two acts. Whoever was upgraded last has been ready for the shortest time.
func TestScenarioHotUpgrade(t *testing.T) {
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

// TestScenarioSidecarPriority is case 308.
func TestScenarioSidecarPriority(t *testing.T) {
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
	for _, e := range s.pods {
		if s.names[e.Name] == name {
			s.change(e, cluster.PodChange{Labels: map[string]*string{key: &value}}, "")
		}
	}
}

// TestScenarioSidecarBadImage is case 311: the first pod stands and holds the
// others; the good image repairs it first. Those that it repairs run before the
// controller has written the next pod, so never more than two are down.
func TestScenarioSidecarBadImage(t *testing.T) {
	s := play(t, sidecarSet("maxUnavailable: 2", ""))
	s.grow(webRef, 5)
	s.expect("bad", []string{"sidecarUpdate p4, sidecarUpdate p5"}, s.step(meshImage("mesh:bad", "")))
	s.expect("good", []string{"sidecarUpdate p2, sidecarUpdate p3, sidecarUpdate p4, sidecarUpdate p5", "sidecarUpdate p1"}, s.step(meshImage("mesh:2.0", "")))
	if down := s.rec.extremes.down; down != 2 {
		t.Errorf("%d pods were down at once", down)
	}
	if diff := cmp.Diff("mesh:2.0 web:1.0", s.images()["p5"]); diff != "" {
		t.Error(diff)
	}
}
