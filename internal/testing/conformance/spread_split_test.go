package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// RenderSpread renders the objects of a case with their WorkloadSpread expanded
// and returns what came out. An error is a refusal.
type RenderSpread func(objects []map[string]any) ([]map[string]any, error)

// SpreadSplit holds the workloads that rendering makes of the target against the
// recorded pods: after the first step their numbers, after each step what pods of
// a subset look like that are new in it.
func SpreadSplit(c Case, render RenderSpread) error {
	s := &splitRun{objects: map[string]map[string]any{}, told: map[string][]splitPod{}, first: true}
	return eachStep(c, func(docs []map[string]any, want map[string]any) error {
		for _, d := range docs {
			s.apply(d)
		}
		out, err := render(slices.Collect(s.ordered()))
		if want["result"] == "rejected" {
			return refusedOrKept(out, err, text(want, "refusal", "object"))
		}
		if err != nil {
			return err
		}
		defer func() { s.first = false }()
		return s.compare(want, out)
	})
}

// splitRun is a case while it runs.
type splitRun struct {
	objects map[string]map[string]any
	keys    []string
	// told are the pods of each subset as they were rendered so far.
	told  map[string][]splitPod
	first bool
}

// splitPod is a recorded pod, or the pods of a rendered template.
type splitPod struct {
	labels, annotations map[string]string
	spec                map[string]any
}

// podIn reads metadata and spec.
func podIn(v any) splitPod {
	return splitPod{textMap(field(v, "metadata", "labels")), textMap(field(v, "metadata", "annotations")), settled(field(v, "spec"))}
}

// line is the pod as it is compared: without the uid, which stands for a name that
// a rendered pod has, and with its deletion cost or not.
func (p splitPod) line(cost bool) string {
	annotations := maps.Clone(p.annotations)
	annotations[matchedAnnotation] = subsetOf(annotations)
	if !cost {
		delete(annotations, costAnnotation)
	}
	return podText("", "", false, p.labels, annotations, p.spec)
}

// adopted is the pod without a subset as the controller marks it later: as one of
// subset, with the metadata of its patch.
func (p splitPod) adopted(like splitPod, ws map[string]any, subset string) splitPod {
	labels, annotations := maps.Clone(p.labels), maps.Clone(p.annotations)
	annotations[matchedAnnotation] = like.annotations[matchedAnnotation]
	annotations[costAnnotation] = like.annotations[costAnnotation]
	for _, s := range items(field(ws, "spec", "subsets")) {
		if text(s, "name") == subset {
			maps.Copy(labels, textMap(field(s, "patch", "metadata", "labels")))
			maps.Copy(annotations, textMap(field(s, "patch", "metadata", "annotations")))
		}
	}
	return splitPod{labels, annotations, p.spec}
}

func (s *splitRun) apply(d map[string]any) {
	key := kindIn(text(d, "of")) + "/" + nameOf(d)
	switch kindOf(d) {
	case "DeleteObject":
		delete(s.objects, key)
	case "MergePatch":
		s.objects[key] = mapping(mergePatch(s.objects[key], d["patch"]))
	case "Wait", "DeletePods":
	default:
		key = kindOf(d) + "/" + nameOf(d)
		if s.objects[key] == nil {
			s.keys = append(s.keys, key)
		}
		s.objects[key] = d
	}
}

func (s *splitRun) ordered() func(func(map[string]any) bool) {
	return func(yield func(map[string]any) bool) {
		for _, key := range s.keys {
			if o := s.objects[key]; o != nil && !yield(o) {
				return
			}
		}
	}
}

// refusedOrKept: what Kruise refuses is an error, or stays as it is.
func refusedOrKept(out []map[string]any, err error, object string) error {
	kept := slices.ContainsFunc(out, func(o map[string]any) bool { return kindOf(o)+"/"+nameOf(o) == object })
	if err == nil && !kept {
		return fmt.Errorf("%s was expanded, though Kruise refuses it", object)
	}
	return nil
}

// spread is the WorkloadSpread of the case, nil where there is none.
func (s *splitRun) spread() map[string]any {
	for o := range s.ordered() {
		if kindOf(o) == kruise.KindWorkloadSpread {
			return o
		}
	}
	return nil
}

func (s *splitRun) compare(want map[string]any, out []map[string]any) error {
	ws := s.spread()
	if ws == nil {
		return nil
	}
	counts := map[string]any{}
	for _, o := range out {
		subset := renderedSubset(o)
		if n := replicasIn(o); n != nil {
			counts[subset] = n
		}
		s.told[subset] = append(s.told[subset], podIn(field(o, "spec", "template")))
	}
	if err := s.counts(want, ws, counts); err != nil {
		return err
	}
	return s.pods(want, ws)
}

// counts compares numbers of pods where nothing but their creation has happened.
func (s *splitRun) counts(want, ws, counts map[string]any) error {
	if !s.first || text(ws, "spec", "scheduleStrategy", "type") == "Adaptive" || varies(want, "perSubset") {
		return nil
	}
	got := withZeros(counts, want)
	adopt(got, mapping(want["perSubset"]))
	return Different("perSubset", Diff(mapping(want["perSubset"]), got))
}

// adopt moves pods for which no subset had room to where they are recorded: the
// controller counts them in a subset that their node fits
// (docs/kruise/distribution.md#workloadspread).
func adopt(got, recorded map[string]any) {
	surplus, _ := got[noSubset].(int64)
	left, _ := recorded[noSubset].(int64)
	for _, subset := range slices.Sorted(maps.Keys(recorded)) {
		n, _ := got[subset].(int64)
		more, _ := recorded[subset].(int64)
		if move := min(more-n, surplus-left); subset != noSubset && move > 0 {
			got[subset], surplus = n+move, surplus-move
		}
	}
	if got[noSubset] = surplus; surplus == 0 {
		delete(got, noSubset)
	}
}

// withZeros adds subsets without a workload: Jobs that would run nothing.
func withZeros(counts, want map[string]any) map[string]any {
	out := maps.Clone(counts)
	for subset := range mapping(want["perSubset"]) {
		if out[subset] == nil {
			out[subset] = int64(0)
		}
	}
	return out
}

// pods wants each new pod of a subset to look like one that was rendered.
func (s *splitRun) pods(want, ws map[string]any) error {
	created := strings.Join(texts(want["createdInOrder"]), " ")
	mirrored := text(ws, "spec", "targetRef", "kind") == kruise.KindReplicaSet
	for _, p := range items(want["pods"]) {
		subset := text(p, "subset")
		if subset == "" || !strings.Contains(created, subset) {
			continue
		}
		pod := podIn(field(p, "object"))
		// Later costs are the controller's doing, and so are mirrored ones.
		cost := s.first && !mirrored && !strings.HasPrefix(pod.annotations[costAnnotation], "-")
		var told []string
		for _, t := range s.told[subset] {
			told = append(told, t.line(cost))
		}
		for _, t := range s.told[noSubset] {
			told = append(told, t.adopted(pod, ws, subset).line(cost))
		}
		if !slices.Contains(told, pod.line(cost)) {
			return Different("pods of "+subset, Diff([]string{pod.line(cost)}, told))
		}
	}
	return nil
}

// renderedSubset is the subset of a rendered workload, by what its pods say.
func renderedSubset(o map[string]any) string {
	return subsetOf(textMap(field(o, "spec", "template", "metadata", "annotations")))
}

func replicasIn(o map[string]any) any {
	if n := field(o, "spec", "parallelism"); n != nil {
		return n
	}
	return field(o, "spec", "replicas")
}

// settled is a pod's spec without an empty node affinity, which the renderer does
// not write.
func settled(v any) map[string]any {
	spec := copied(mapping(v))
	if affinity := mapping(spec["affinity"]); len(mapping(affinity["nodeAffinity"])) == 0 {
		if delete(affinity, "nodeAffinity"); len(affinity) == 0 {
			delete(spec, "affinity")
		}
	}
	return spec
}
