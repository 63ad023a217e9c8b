package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/mask"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// Risks are what to look out for in a plan, one line each: its own warnings last.
func Risks(p plan.Plan) []string { return append(watched(p), p.Warnings...) }

// watched are the risks that every plan like this one has.
func watched(p plan.Plan) []string {
	out := []string{downText(p.Limits)}
	switch p.Change.Mode {
	case rules.ModeRecreate:
		out = append(out, "a recreated pod gets a new address and empty emptyDir volumes, and may land on another node")
	case rules.ModeInPlace:
		if p.Target.Kind == kruise.KindSidecarSet && len(p.Change.Restarts) == 0 {
			break // every sidecar that changes is exchanged hot, and a warning says so
		}
		out = append(out, "a container that restarts drops its connections; the pod keeps its name, node, address and volumes")
	}
	if slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return slices.ContainsFunc(s.Pods, tied) }) {
		out = append(out, "~ marks pods that are interchangeable: Kruise may pick other ones")
	}
	if n := waits(p.Steps); n > 0 {
		out = append(out, verb(n, "1 step waits", fmt.Sprintf("%d steps wait", n))+" for approval")
	}
	if p.Target.UID == "" {
		out = append(out, "planned without a cluster: pods and their names are examples")
	}
	return out
}

func tied(p plan.PodStep) bool { return p.Tie > 0 }

// waits counts the pauses without an end.
func waits(steps []plan.Step) int {
	n := 0
	for _, s := range steps {
		if s.Pause != nil && s.Pause.For == 0 {
			n++
		}
	}
	return n
}

func downText(l plan.Limits) string {
	if l.MaxUnavailable <= 0 {
		return "no pod becomes unavailable"
	}
	if l.Replicas <= 0 {
		return "there are no pods"
	}
	share := min(l.MaxUnavailable*100/l.Replicas, 100)
	return fmt.Sprintf("up to %d of %s (%d%%) are unavailable at a time", min(l.MaxUnavailable, l.Replicas), plural(l.Replicas, "pod"), share)
}

// PredictedText is a simulated run in numbers, in one line.
func PredictedText(s simulate.Summary) string {
	return fmt.Sprintf("at most %s unavailable, at most %s at once; %s, %d recreated, %s, %s",
		plural(s.MostDown, "pod"), plural(s.MostPods, "pod"), plural(s.Restarts, "container restart"), s.Recreated,
		plural(s.Pulls, "image pull"), plural(s.Writes, "API write"))
}

// patchCommand is a patch of a plan as one would send it by hand, but for what is
// secret in it.
func patchCommand(of *plan.Plan, p plan.Patch) string {
	own := of.Target
	if p.Target != nil {
		own = *p.Target
	}
	body := jsonText(of.Shown(p))
	words := []string{"kubectl", "patch", typedName(own)}
	if own.Namespace != "" {
		words = append(words, "-n", own.Namespace)
	}
	if p.Subresource != "" {
		words = append(words, "--subresource", p.Subresource)
	}
	quoted := "'" + strings.ReplaceAll(body, "'", `'\''`) + "'"
	command := strings.Join(append(words, "--type", cmp.Or(p.Type, "merge"), "-p", quoted), " ")
	if body != jsonText(p.Body) {
		command += " # " + mask.Masked + ": the plan's file has what is secret"
	}
	return command
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// typedName is TYPE.VERSION.GROUP/NAME, which kubectl never takes for another
// kind of the same name.
func typedName(t plan.Target) string {
	group, version, ok := strings.Cut(t.APIVersion, "/")
	kind := strings.ToLower(t.Kind)
	if ok {
		kind += "." + version + "." + group
	}
	return kind + "/" + t.Name
}
