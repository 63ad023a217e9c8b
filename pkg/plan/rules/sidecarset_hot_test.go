package rules

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

const hotSpec = `
selector: {matchLabels: {app: web}}
containers: [{name: mesh, image: "mesh:2", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: empty}}]
`

// heat replaces the pod's mesh by a hot-upgrade pair.
func heat(p *cluster.Pod, first, second, working string) {
	p.Containers = []cluster.Container{p.Containers[0], running("mesh-1", first), running("mesh-2", second)}
	p.Annotations[kruise.SidecarSetWorkingHotUpgradeAnnotation] = `{"mesh":"` + working + `"}`
	p.Annotations[version+"mesh-1"], p.Annotations[versionAlt+"mesh-1"] = "1", "0"
	p.Annotations[version+"mesh-2"], p.Annotations[versionAlt+"mesh-2"] = "0", "1"
}

func running(name, image string) cluster.Container {
	return cluster.Container{Name: name, Image: image, Reported: true, StatusImage: image, ImageID: "sha256:" + image, Ready: true}
}

// apply makes the pod what a patch makes of it; the node follows at once.
func apply(p *cluster.Pod, patch SidecarPatch) {
	for i := range p.Containers {
		if image, ok := patch.Images[p.Containers[i].Name]; ok {
			p.Containers[i] = running(p.Containers[i].Name, image)
		}
	}
	maps.Copy(p.Annotations, patch.Annotations)
}

// TestHot_Upgrade walks the table of docs/kruise/sidecarset.md#hot-upgrade.
func TestHot_Upgrade(t *testing.T) {
	s := sidecarSet(t, hotSpec, "o")
	p := s.Pods[0]
	heat(p, "mesh:1", "empty", "mesh-1")
	show := func() []string {
		first, _ := p.Container("mesh-1")
		second, _ := p.Container("mesh-2")
		return []string{
			first.Image, second.Image, WorkingContainers(p)["mesh"],
			p.Annotations[version+"mesh-1"] + " / " + p.Annotations[version+"mesh-2"],
			p.Annotations[versionAlt+"mesh-1"] + " / " + p.Annotations[versionAlt+"mesh-2"],
		}
	}
	step := func(name string, patch func(*cluster.Pod) (SidecarPatch, error), want ...string) {
		t.Helper()
		if patch != nil {
			made, err := patch(p)
			if err != nil {
				t.Fatal(err)
			}
			apply(p, made)
		}
		if diff := cmp.Diff(want, show()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	upgrade := func(p *cluster.Pod) (SidecarPatch, error) { return s.Upgrade(p, now) }
	flip := func(p *cluster.Pod) (SidecarPatch, error) { return s.Flip(p, now) }
	step("injected", nil, "mesh:1", "empty", "mesh-1", "1 / 0", "0 / 1")
	step("upgrade", upgrade, "mesh:1", "mesh:2", "mesh-2", "1 / 1000", "1000 / 1")
	if !s.Updated(p) || s.Ready(p) {
		t.Errorf("after the upgrade: updated %v, ready %v", s.Updated(p), s.Ready(p))
	}
	if got := names(s.ChooseUpdate().Flip); got != "p1" {
		t.Errorf("flips %q", got)
	}
	step("flip", flip, "empty", "mesh:2", "mesh-2", "0 / 1000", "1000 / 0")
	if s.flipReady(p) || !s.Ready(p) || !s.Updated(p) {
		t.Errorf("after the flip: flips %v, ready %v, updated %v", s.flipReady(p), s.Ready(p), s.Updated(p))
	}
	s.Spec.Containers[0].Image, s.Hash, s.ResourceVersion = "mesh:3", "m", "2000"
	step("next upgrade", upgrade, "mesh:3", "mesh:2", "mesh-1", "2000 / 1000", "1000 / 2000")
	step("next flip", flip, "mesh:3", "empty", "mesh-1", "2000 / 0", "0 / 2000")
}

func TestHot_Target(t *testing.T) {
	for _, c := range []struct {
		name                   string
		first, second, working string
		edit                   func(*cluster.Pod)
		want                   string
		ok                     bool
	}{
		{"the empty one", "mesh:1", "empty", "mesh-1", nil, "mesh-2", true},
		{"-1 is asked first", "empty", "empty", "mesh-1", nil, "mesh-1", true},
		{"the empty one although it is named working", "empty", "mesh:1", "mesh-1", nil, "mesh-1", true},
		{"the broken one", "mesh:1", "mesh:bad", "mesh-2", func(p *cluster.Pod) { p.Containers[2].Ready = false }, "mesh-2", true},
		{"the broken first one", "mesh:bad", "mesh:1", "mesh-1", func(p *cluster.Pod) { p.Containers[1].Ready = false }, "mesh-1", true},
		{"both fine: the idle one", "mesh:1", "mesh:0", "mesh-1", nil, "mesh-2", true},
		{"both broken: the idle one", "mesh:1", "mesh:0", "mesh-2", func(p *cluster.Pod) { p.Containers[1].Ready, p.Containers[2].Ready = false, false }, "mesh-1", true},
		{"the other runs it already", "mesh:2", "empty", "mesh-1", nil, "mesh-2", false},
	} {
		s := sidecarSet(t, hotSpec, "o")
		p := s.Pods[0]
		heat(p, c.first, c.second, c.working)
		if c.edit != nil {
			c.edit(p)
		}
		name, _, ok := s.hotTarget(p, s.hotPairs(p)[0])
		if name != c.want || ok != c.ok {
			t.Errorf("%s: %s, %v", c.name, name, ok)
		}
	}
}

func TestFlip_Ready(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*cluster.Pod)
		want bool
	}{
		{"ready", func(*cluster.Pod) {}, true},
		{"nothing to flip", func(p *cluster.Pod) { p.Containers[1].Image = "empty" }, false},
		{"the new one is not there yet", func(p *cluster.Pod) {
			p.Containers[2].StatusImage = "empty"
			p.Annotations[kruise.SidecarSetInPlaceUpdateStateAnnotation] = `{"side":{"lastContainerStatuses":{"mesh-2":{"imageID":"sha256:mesh:2"}}}}`
		}, false},
		{"pod not ready, new one neither", func(p *cluster.Pod) { setReady(p, false, t0); p.Containers[2].Ready = false }, false},
		{"pod not ready because of the idle one", func(p *cluster.Pod) { setReady(p, false, t0); p.Containers[1].Ready = false }, true},
		{"pod not ready because of the app", func(p *cluster.Pod) { setReady(p, false, t0); p.Containers[0].Ready = false }, false},
	} {
		s := sidecarSet(t, hotSpec, "n")
		p := s.Pods[0]
		heat(p, "mesh:1", "mesh:2", "mesh-2")
		c.edit(p)
		if got := s.flipReady(p); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestFlip_WaitsWhilePausedOrNotUpdated: paused and NotUpdate hold flips back too.
func TestFlip_WaitsWhilePausedOrNotUpdated(t *testing.T) {
	for _, strategy := range []string{"paused: true", "type: NotUpdate"} {
		s := sidecarSet(t, hotSpec+"updateStrategy: {"+strategy+"}", "n")
		heat(s.Pods[0], "mesh:1", "mesh:2", "mesh-2")
		if got := s.ChooseUpdate().Flip; len(got) > 0 {
			t.Errorf("%s: flips %q", strategy, names(got))
		}
	}
}

// TestHot_Phase: from the first patch until what became idle is ready again.
func TestHot_Phase(t *testing.T) {
	const recorded = `{"side":{"lastContainerStatuses":{"mesh-1":{"imageID":"sha256:mesh:1"}}}}`
	for _, c := range []struct {
		name                   string
		first, second, working string
		edit                   func(*cluster.Pod)
		want                   string
	}{
		{"injected", "mesh:1", "empty", "mesh-1", nil, ""},
		{"a new pod", "mesh:1", "empty", "mesh-1", func(p *cluster.Pod) { p.Containers[2].Ready = false }, ""},
		{"the new one starts", "mesh:1", "mesh:2", "mesh-2", func(p *cluster.Pod) { setReady(p, false, t0); p.Containers[2].Ready = false }, "mesh-2 starts beside mesh-1"},
		{"the new one is ready", "mesh:1", "mesh:2", "mesh-2", nil, "mesh-2 is ready, mesh-1 is emptied next"},
		{"the old one restarts", "empty", "mesh:2", "mesh-2", func(p *cluster.Pod) {
			p.Containers[1].Ready = false
			p.Annotations[kruise.SidecarSetInPlaceUpdateStateAnnotation] = recorded
		}, "mesh-1 is being emptied"},
		{"done", "empty", "mesh:2", "mesh-2", func(p *cluster.Pod) { p.Annotations[kruise.SidecarSetInPlaceUpdateStateAnnotation] = recorded }, ""},
	} {
		s := sidecarSet(t, hotSpec, "n")
		p := s.Pods[0]
		heat(p, c.first, c.second, c.working)
		if c.edit != nil {
			c.edit(p)
		}
		if got := s.HotPhase(p); got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
