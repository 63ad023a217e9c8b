package doctor

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/doctor/verdict"
	featuregates "github.com/kubectl-kruise/kubectl-kruise/internal/cli/gates"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// gated are kinds whose webhook refuses every object while a gate is off, and whether
// the gate is on by default (semantics fanout-and-jobs, its first lines).
var gated = []struct {
	gate    string
	enabled bool
	kinds   []string
}{
	{"ImagePullJobGate", false, []string{kruise.KindImagePullJob, kruise.KindImageListPullJob}},
	{"KruiseDaemon", true, []string{kruise.KindContainerRecreateRequest, kruise.KindNodeImage}},
	{"ResourceDistributionGate", false, []string{kruise.KindResourceDistribution}},
	{kruise.KindWorkloadSpread, true, []string{kruise.KindWorkloadSpread}},
}

// manager looks at Kruise's controllers: their version, whether they run, their gates.
func (p *patient) manager(ctx context.Context, served map[string][]string) []verdict.Line {
	d, err := featuregates.Manager(ctx, p.core)
	if err != nil {
		return []verdict.Line{verdict.Odd("Kruise", "", "its controllers in namespace %s cannot be read: %v", kruise.DefaultNamespace, err)}
	}
	if d == nil {
		return []verdict.Line{verdict.Odd("Kruise", "without controllers its objects do nothing", "no controllers in namespace %s", kruise.DefaultNamespace)}
	}
	c := d.Spec.Template.Spec.Containers[0]
	said := verdict.Good("Kruise", "%s, %d of %d controllers are ready", c.Image, d.Status.ReadyReplicas, d.Status.Replicas)
	if d.Status.ReadyReplicas == 0 {
		said = verdict.Bad("Kruise", "kubectl -n "+d.Namespace+" describe deployment "+d.Name, "%s, and none of its controllers is ready", c.Image)
	}
	return append([]verdict.Line{said}, gates(featuregates.Given(d), served)...)
}

// gates infers them from the controllers' arguments, and names kinds that are served and
// refused.
func gates(given []string, served map[string][]string) []verdict.Line {
	lines := []verdict.Line{verdict.Good("gates", "Kruise's defaults")}
	if len(given) > 0 {
		lines[0] = verdict.Good("gates", "%s, the others as Kruise has them by default", strings.Join(given, ", "))
	}
	for _, g := range gated {
		on := g.enabled
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
