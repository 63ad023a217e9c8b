package doctor

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/doctor/verdict"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// gated are kinds whose webhook refuses every object while a gate is off
// (docs/kruise/distribution.md#feature-gates).
var gated = []struct {
	gate  string
	kinds []string
}{
	{"ImagePullJobGate", []string{kruise.KindImagePullJob, kruise.KindImageListPullJob}},
	{"KruiseDaemon", []string{kruise.KindContainerRecreateRequest, kruise.KindNodeImage}},
	{"ResourceDistributionGate", []string{kruise.KindResourceDistribution}},
	{kruise.KindWorkloadSpread, []string{kruise.KindWorkloadSpread}},
}

// manager looks at Kruise's controllers: their version, whether they run, their gates.
func (p *patient) manager(ctx context.Context, served map[string][]string) []verdict.Line {
	manager, err := installation.FindManager(ctx, p.objects)
	if err != nil {
		return []verdict.Line{verdict.Odd("Kruise", "", "its controllers in namespace %s cannot be read: %v", kruise.DefaultNamespace, err)}
	}
	d := manager.Deployment
	if d == nil {
		return []verdict.Line{verdict.Odd("Kruise", "without controllers its objects do nothing", "no controllers in namespace %s", kruise.DefaultNamespace)}
	}
	c := manager.Container
	said := verdict.Good("Kruise", "%s, %d of %d controllers are ready", c.Image, d.Status.ReadyReplicas, d.Status.Replicas)
	if d.Status.ReadyReplicas == 0 {
		said = verdict.Bad("Kruise", "kubectl -n "+d.Namespace+" describe deployment "+d.Name, "%s, and none of its controllers is ready", c.Image)
	}
	return append([]verdict.Line{said}, gates(installation.ManagerGates(c), served, installation.Tell(ctx, manager, p.objects, p.core.Discovery()).Release.OrNewest())...)
}

// release says which release of Kruise this is, and how sure that is.
func (p *patient) release(ctx context.Context) verdict.Line {
	found := p.found(ctx)
	switch {
	case found.Release.IsZero():
		return verdict.Good("release", "which one of Kruise this is cannot be told: say it with --kruise-version")
	case found.Release.Before(kruise.OldestRecorded):
		return verdict.Odd("release", "", "%s; of it only fields and versions are known to this program", found)
	case !found.Sure:
		return verdict.Good("release", "%s: if it is another one, say it with --kruise-version", found)
	}
	return verdict.Good("release", "%s", found)
}

// found is the release, and how it is known.
func (p *patient) found(ctx context.Context) installation.Found {
	return installation.Read(ctx, p.objects, p.core.Discovery())
}

// gates infers them from the controllers' arguments, and names kinds that are served and
// refused.
func gates(given []string, served map[string][]string, of kruise.Release) []verdict.Line {
	lines := []verdict.Line{verdict.Good("gates", "Kruise's defaults")}
	if len(given) > 0 {
		lines[0] = verdict.Good("gates", "%s, the others as Kruise has them by default", strings.Join(given, ", "))
	}
	for _, g := range gated {
		if !of.HasGate(g.gate) {
			continue // nothing to set: the release has the kind without it
		}
		on := of.GateOn(g.gate)
		if i := slices.IndexFunc(given, func(s string) bool { return strings.HasPrefix(s, g.gate+"=") }); i >= 0 {
			on = strings.EqualFold(given[i], g.gate+"=true")
		}
		refused := slices.DeleteFunc(slices.Clone(g.kinds), func(kind string) bool { return len(served[kind]) == 0 })
		if !on && len(refused) > 0 {
			lines = append(lines, verdict.Odd(
				"gates", "set --feature-gates="+g.gate+"=true for Kruise, or let render expand them", "%s is off: every %s is refused", g.gate, strings.Join(refused, " and "),
			))
		}
	}
	return lines
}
