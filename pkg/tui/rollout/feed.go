package rollout

import (
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// happening are events that say the same of several pods.
type happening struct {
	world.Event
	pods []string
}

// span is how far apart events may be that are told together.
const span = time.Minute

// clustered puts events together that say the same of several pods within a minute;
// the newest first, as they came.
func clustered(events []world.Event) []happening {
	var out []happening
	last := map[[2]string]int{}
	for _, e := range events {
		key := [2]string{e.Reason, e.Text}
		i, ok := last[key]
		if ok && e.Pod != "" && len(out[i].pods) > 0 && out[i].At.Sub(e.At) < span {
			out[i].Count += e.Count
			if !slices.Contains(out[i].pods, e.Pod) {
				out[i].pods = append(out[i].pods, e.Pod)
			}
			continue
		}
		last[key] = len(out)
		h := happening{Event: e}
		if e.Pod != "" {
			h.pods = []string{e.Pod}
		}
		out = append(out, h)
	}
	return out
}
