package get

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// list shows the entries of a list.
func list(path string) cell {
	return func(o map[string]any, _ time.Time) string {
		entries, _ := field(o, path).([]any)
		if len(entries) == 0 {
			return none
		}
		out := make([]string, len(entries))
		for i, e := range entries {
			out[i] = fmt.Sprint(e)
		}
		return strings.Join(out, ",")
	}
}

// reference shows what the first of some references is to, as kind/name.
func reference(paths ...string) cell {
	return func(o map[string]any, _ time.Time) string {
		for _, path := range paths {
			ref, _ := field(o, path).(map[string]any)
			if name, _ := ref["name"].(string); name != "" {
				return strings.ToLower(fmt.Sprint(ref["kind"])) + "/" + name
			}
		}
		return none
	}
}

// nodeOfRequest is the node of a ContainerRecreateRequest: a label holds it.
func nodeOfRequest(o map[string]any, _ time.Time) string {
	labels, _ := field(o, "metadata.labels").(map[string]any)
	if node, _ := labels[kruise.ContainerRecreateNodeNameLabel].(string); node != "" {
		return node
	}
	return none
}

// distributed is what a ResourceDistribution copies; its data is shown nowhere.
func distributed(o map[string]any, _ time.Time) string {
	r, _ := field(o, "spec.resource").(map[string]any)
	name := field(r, "metadata.name")
	if name == nil {
		return none
	}
	return strings.ToLower(fmt.Sprint(r["kind"])) + "/" + fmt.Sprint(name)
}

// adaptive tells Adaptive from the other way to schedule, which is left blank.
func adaptive(o map[string]any, _ time.Time) string {
	if t := field(o, "spec.scheduleStrategy.type"); t == "Adaptive" {
		return "Adaptive"
	}
	return ""
}

// releaseField shows a field of the status that belongs to the Rollout's style: what
// read canaryStatus alone told of every blue-green release that it was at step 0.
func releaseField(name, without string) cell {
	return func(o map[string]any, _ time.Time) string {
		for _, status := range []string{string(release.Canary), string(release.BlueGreen)} {
			if v := field(o, "status."+status+"Status."+name); v != nil {
				return fmt.Sprint(v)
			}
		}
		return without
	}
}

var (
	releaseStep  = releaseField("currentStepIndex", "0")
	releaseState = releaseField("currentStepState", none)
)

func releaseStyle(o map[string]any, _ time.Time) string {
	if field(o, "spec.strategy.blueGreen") != nil {
		return "BlueGreen"
	}
	return "Canary"
}
