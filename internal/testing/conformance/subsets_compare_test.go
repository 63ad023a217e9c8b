package conformance

import (
	"fmt"
	"slices"
	"strings"
)

const subsetLabel = "apps.kruise.io/subset-name"

// theirs are Kruise's own marks and ours, which are not compared.
var theirs = []string{"apps.kruise.io/controller-revision-hash", "kubectl-kruise.dev/source", "kubectl-kruise.dev/strategy"}

// compare holds the workloads of the last rendering against the recording.
func (s *subsetsStep) compare() error {
	varies := texts(s.want["varies"])
	if !slices.Contains(varies, "allocation") {
		if err := Different("allocation", Diff(s.want["allocation"], allocation(s.got))); err != nil {
			return err
		}
	}
	if slices.Contains(varies, "objects") {
		return nil
	}
	objects, _ := s.want["objects"].([]any)
	if len(objects) != len(s.got) {
		return fmt.Errorf("%d workloads recorded, ours are %d", len(objects), len(s.got))
	}
	for _, o := range objects {
		want := mapping(o)
		subset := text(want, "metadata", "labels", subsetLabel)
		i := slices.IndexFunc(s.got, func(g map[string]any) bool { return text(g, "metadata", "labels", subsetLabel) == subset })
		if i < 0 {
			return fmt.Errorf("no workload of subset %s", subset)
		}
		a, b := compared(want), compared(merged(s.before(subset, want), s.got[i]))
		equalise(a, b)
		if err := Different("subset "+subset, Diff(a, b)); err != nil {
			return err
		}
	}
	return nil
}

// before is the workload that the subset had: labels and annotations that left
// the template stay on it. A switched kind starts again.
func (s *subsetsStep) before(subset string, want map[string]any) map[string]any {
	for _, o := range s.previous {
		if text(o, "metadata", "labels", subsetLabel) == subset && kindOf(o) == kindOf(want) && o["apiVersion"] == want["apiVersion"] {
			return o
		}
	}
	return nil
}

func allocation(workloads []map[string]any) map[string]any {
	out := map[string]any{}
	for _, w := range workloads {
		out[text(w, "metadata", "labels", subsetLabel)] = field(w, "spec", "replicas")
	}
	return out
}

// compared leaves out what is Kruise's own: the name's suffix, owner
// references, and the label with the revision hash on workload and pods.
func compared(o map[string]any) map[string]any {
	metadata := mapping(o["metadata"])
	kept := map[string]any{"namespace": metadata["namespace"]}
	for _, k := range []string{"labels", "annotations"} {
		kept[k] = unmarked(metadata[k])
	}
	out := with(copied(o), "metadata", kept)
	delete(out, "status")
	template := mapping(field(out, "spec", "template"))
	if labels := field(template, "metadata", "labels"); labels != nil {
		mapping(template["metadata"])["labels"] = unmarked(labels)
	}
	return out
}

func unmarked(v any) map[string]any {
	out := with(v, "", nil)
	for _, k := range append([]string{""}, theirs...) {
		delete(out, k)
	}
	return out
}

// recorded is the cluster after a step: the workloads, with the pods that its
// status says are ready, and the status. Times are placeholders and go.
func recorded(want map[string]any) (live []map[string]any, status map[string]any) {
	status = mapping(timeless(want["status"]))
	ready := map[string]any{}
	subsets, _ := status["subsetStatuses"].([]any)
	for _, s := range subsets {
		ready[text(s, "name")] = field(s, "readyReplicas")
	}
	objects, _ := want["objects"].([]any)
	for _, o := range objects {
		w := with(o, "status", map[string]any{"readyReplicas": ready[text(o, "metadata", "labels", subsetLabel)]})
		live = append(live, w)
	}
	return live, status
}

func timeless(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if s, ok := e.(string); !ok || !strings.HasPrefix(s, "<time") {
				out[k] = timeless(e)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = timeless(e)
		}
		return out
	}
	return v
}
