package pod

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// sidecars is one SidecarSet in a pod, as the pod itself has it.
type sidecars struct {
	set, revision string
	since         time.Time
	containers    []string
	// working are the containers of hot-upgrade pairs that work.
	working []string
}

// injected are the SidecarSets in a pod, by name. A pod that was rendered without
// Kruise has a list of them and nothing else (docs/kruise/sidecarset.md#annotations).
func injected(p *cluster.Pod) []sidecars {
	entries, _ := inject.Entries(p.Annotations) // what cannot be read says nothing
	names := slices.Collect(maps.Keys(entries))
	for name := range strings.SplitSeq(p.Annotations[kruise.SidecarSetInjectedListAnnotation], ",") {
		if name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	working := rules.WorkingContainers(p)
	var out []sidecars
	for _, name := range slices.Compact(names) {
		e := entries[name]
		s := sidecars{set: name, revision: e.ControllerRevision}
		s.since, _ = time.Parse(time.RFC3339, e.UpdateTimestamp)
		for _, name := range e.SidecarList {
			now, hot := working[name]
			if !hot {
				s.containers = append(s.containers, name)
				continue
			}
			s.containers = append(s.containers, name+"-1", name+"-2") // one that is upgraded without a gap has two
			s.working = append(s.working, now)
		}
		out = append(out, s)
	}
	return out
}

// sidecars are the SidecarSets in the pod, each with its revision.
func (s Screen) sidecars(env screen.Env) []draw.Line {
	list := injected(s.pod)
	if len(list) == 0 {
		return nil
	}
	lines := []draw.Line{draw.Heading("SIDECARS", "as the pod has them")}
	for _, in := range list {
		l := draw.Text(draw.Strong, "  "+in.set)
		if in.revision != "" {
			l = l.Add(draw.Plain, "  revision "+in.revision)
		} else {
			l = l.Add(draw.Faint, "  of no revision")
		}
		if !in.since.IsZero() {
			l = l.Add(draw.Faint, "  since "+screen.Age(env.World.Now, in.since))
		}
		l = l.Add(draw.Faint, "  "+strings.Join(in.containers, ", "))
		for _, c := range in.working {
			l = l.Add(draw.Good, "  "+env.Theme.Symbols.Healthy+" "+c+" works")
		}
		lines = append(lines, l)
	}
	return append(lines, draw.Line{})
}
