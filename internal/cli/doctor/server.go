package doctor

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// server asks for the version; ok is false where the server does not answer.
func (p *inspection) server() (lines []verdictLine, ok bool) {
	info, err := p.core.Discovery().ServerVersion()
	if err != nil {
		return []verdictLine{failedVerdict("server", "check --kubeconfig, --context and $KUBECONFIG", "no answer: %v", err)}, false
	}
	minor, err := strconv.Atoi(strings.TrimRight(info.Minor, "+"))
	if err != nil || info.Major != "1" {
		return []verdictLine{warned("server", "", "Kubernetes %s, whose version is not understood", info.GitVersion)}, true
	}
	if minor < stage.OldestKubernetes || minor > stage.NewestKubernetes {
		return []verdictLine{warned(
			"server", "look for another release of this program", "Kubernetes %s; this program knows 1.%d to 1.%d",
			info.GitVersion, stage.OldestKubernetes, stage.NewestKubernetes,
		)}, true
	}
	return []verdictLine{passed("server", "Kubernetes %s", info.GitVersion)}, true
}

// kinds asks which kinds of Kruise are served, and compares them with those that this
// program knows. served are versions by kind, without a kind where there is no Kruise.
func (p *inspection) kinds() (served map[string][]string, lines []verdictLine) {
	served = map[string][]string{}
	for _, group := range []string{kruise.Group, kruise.PolicyGroup} {
		for _, version := range []string{kruise.V1alpha1, kruise.V1beta1} {
			list, err := p.core.Discovery().ServerResourcesForGroupVersion(group + "/" + version)
			if apierrors.IsNotFound(err) {
				continue
			}
			if err != nil {
				return nil, append(lines, failedVerdict("kinds", "", "cannot ask for %s/%s: %v", group, version, err))
			}
			for _, r := range list.APIResources {
				if !strings.Contains(r.Name, "/") {
					served[r.Kind] = append(served[r.Kind], version)
				}
			}
		}
	}
	if len(served) == 0 {
		return served, append(lines, passed("Kruise", "is not installed: rollouts have the drivers native and client, and render makes native objects"))
	}
	return served, append(lines, comparedVersions(served)...)
}

// comparedVersions reports which kinds are only here or only there.
func comparedVersions(served map[string][]string) []verdictLine {
	var missing, old, out []string
	var lines []verdictLine
	known := map[string]bool{}
	for _, k := range kruise.Kinds() {
		known[k.Kind] = true
		switch versions := served[k.Kind]; {
		case len(versions) == 0:
			missing = append(missing, k.Kind)
		case !slices.Contains(versions, k.Newest()):
			old = append(old, k.Kind)
		}
	}
	for kind := range served {
		if !known[kind] {
			out = append(out, kind)
		}
	}
	slices.Sort(out)
	lines = append(lines, passed("kinds", "%d of Kruise's kinds are served", len(served)-len(out)))
	if len(missing) > 0 {
		lines = append(lines, warned("kinds", "render expands them: --target kruise --expand KIND", "not served: %s", strings.Join(missing, ", ")))
	}
	if len(old) > 0 {
		lines = append(lines, warned("kinds", "'kubectl kruise convert' writes the older version", "served only as v1alpha1: %s", strings.Join(old, ", ")))
	}
	if len(out) > 0 {
		lines = append(lines, warned("kinds", "look for a newer release of this program", "not known to this program: %s", strings.Join(out, ", ")))
	}
	return lines
}

// clockTolerance is from when on clocks differ in a way that leases and deadlines feel.
const clockTolerance = 5 * time.Second

// skew compares the clocks. The server tells whole seconds, so it may be right and differ
// by one.
func (p *inspection) skew(ctx context.Context) verdictLine {
	before := p.clocks.here()
	there, err := p.clocks.there(ctx)
	if err != nil {
		return warned("clock", "", "the server does not tell the time: %v", err)
	}
	here := before.Add(p.clocks.here().Sub(before) / 2)
	off := here.Sub(there.Add(time.Second / 2)).Abs()
	if off < clockTolerance {
		return passed("clock", "agrees with the server's")
	}
	return warned("clock", "set the clock: ages, deadlines and timeouts are wrong by as much", "differs from the server's by %s", off.Round(time.Second))
}
