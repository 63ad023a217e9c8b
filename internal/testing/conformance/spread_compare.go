package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
)

const (
	matchedAnnotation = "apps.kruise.io/matched-workloadspread"
	costAnnotation    = "controller.kubernetes.io/pod-deletion-cost"
	// noSubset is what the recordings call pods without a subset.
	noSubset = "(none)"
)

// compareSpread holds a world against what was recorded after a step, except for
// what came out differently when it was recorded twice.
func compareSpread(want map[string]any, w SpreadWorld) error {
	pods, gone := w.Pods(), w.Gone()
	if want["result"] == "rejected" {
		return nil
	}
	s := &spreadState{pods: pods, status: w.Status()}
	s.nameVersions()
	for _, part := range []struct {
		key       string
		want, got any
	}{
		{"perSubset", want["perSubset"], s.perSubset(mapping(want["perSubset"]))},
		{"createdInOrder", sortedTexts(want["createdInOrder"]), s.created()},
		{"died", recordedGone(want["died"]), gonePods(gone)},
		{"pods", recordedSpreadPods(want["pods"]), s.spreadPods()},
		{"status", want["status"], s.stated()},
	} {
		if varies(want, part.key) {
			continue
		}
		if err := Different(part.key, Diff(part.want, part.got)); err != nil {
			return err
		}
	}
	return nil
}

// spreadState is a world after a step, in the words of the recordings.
type spreadState struct {
	pods   []SpreadPod
	status map[string]any
	// hashes are the recordings' names of versions.
	hashes map[string]string
}

// nameVersions calls the only version <hash>, several <hash-1>, <hash-2> by age.
func (s *spreadState) nameVersions() {
	var versions []string
	for _, p := range s.pods {
		if p.Version != "" && !slices.Contains(versions, p.Version) {
			versions = append(versions, p.Version)
		}
	}
	s.hashes = map[string]string{"": ""}
	for i, v := range versions {
		if s.hashes[v] = fmt.Sprintf("<hash-%d>", i+1); len(versions) == 1 {
			s.hashes[v] = "<hash>"
		}
	}
}

func subsetOf(annotations map[string]string) string {
	var m struct{ Subset string }
	if json.Unmarshal([]byte(annotations[matchedAnnotation]), &m) != nil || m.Subset == "" {
		return noSubset
	}
	return m.Subset
}

// perSubset counts as the recordings do: subsets without pods are listed, pods
// without subset only where there are some.
func (s *spreadState) perSubset(like map[string]any) map[string]any {
	out := map[string]any{}
	for subset := range like {
		if subset != noSubset {
			out[subset] = int64(0)
		}
	}
	for _, p := range s.pods {
		n, _ := out[subsetOf(p.Annotations)].(int64)
		out[subsetOf(p.Annotations)] = n + 1
	}
	return out
}

// created are the subsets of the new pods. Their order is informative only: they
// are compared as a set.
func (s *spreadState) created() []string {
	out := []string{}
	for _, p := range s.pods {
		if p.New {
			name := subsetOf(p.Annotations)
			if !p.Generated {
				name = p.Name + ": " + name
			}
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}

func sortedTexts(v any) []string {
	out := append([]string{}, texts(v)...)
	sort.Strings(out)
	return out
}

// gonePods are pods that went away, by what the recordings tell of them.
func gonePods(list []SpreadPod) []string {
	out := []string{}
	for _, p := range list {
		out = append(out, goneText(subsetOf(p.Annotations), p.Annotations[costAnnotation], named(p), p.Pending, p.New))
	}
	sort.Strings(out)
	return out
}

func named(p SpreadPod) string {
	if p.Generated {
		return ""
	}
	return p.Name
}

func recordedGone(v any) []string {
	out := []string{}
	for _, d := range items(v) {
		subset := text(d, "subset")
		if subset == "" {
			subset = noSubset
		}
		n, _ := field(d, "count").(int64)
		for range n {
			fresh := field(d, "createdInThisStep") == true
			// Whether a pod that came and went had a node is not told.
			out = append(out, goneText(subset, text(d, "deletionCost"), text(d, "name"), field(d, "pending") == true, fresh))
		}
	}
	sort.Strings(out)
	return out
}

func goneText(subset, cost, name string, pending, fresh bool) string {
	return fmt.Sprintf("%s cost %q %s pending %v new %v", subset, cost, name, pending && !fresh, fresh)
}

// stated is the status with the recordings' names of versions; nil without any.
func (s *spreadState) stated() any {
	if len(s.status) == 0 {
		return nil
	}
	out := copied(s.status)
	for _, status := range out {
		versions := mapping(field(status, "versionedSubsetStatuses"))
		for _, version := range slices.Sorted(maps.Keys(versions)) {
			if hash := s.hashes[version]; hash != "" {
				versions[hash] = versions[version]
				delete(versions, version)
			}
		}
	}
	return out
}

// recordedSpreadPods are the recorded pods one by one, without what other parts of
// Kruise and Kubernetes put on them.
func recordedSpreadPods(v any) []string {
	out := []string{}
	for _, p := range items(v) {
		object := field(p, "object")
		name := text(object, "metadata", "name")
		if strings.Contains(name, "<") {
			name = ""
		}
		version := ""
		for _, label := range versionLabels {
			if value := text(object, "metadata", "labels", label); version == "" && value != "" {
				version = value[strings.LastIndexByte(value, '<'):]
			}
		}
		n, _ := field(p, "count").(int64)
		for range n {
			out = append(out, podText(name, version, field(p, "pending") == true, textMap(field(object, "metadata", "labels")),
				textMap(field(object, "metadata", "annotations")), mapping(field(object, "spec"))))
		}
	}
	sort.Strings(out)
	return out
}

// versionLabels tell pods of one template from those of another.
var versionLabels = []string{"controller-revision-hash", "pod-template-hash"}

func (s *spreadState) spreadPods() []string {
	out := []string{}
	for _, p := range s.pods {
		out = append(out, podText(named(p), s.hashes[p.Version], p.Pending, p.Labels, p.Annotations, p.Spec))
	}
	sort.Strings(out)
	return out
}

func textMap(v any) map[string]string {
	out := map[string]string{}
	for k, value := range mapping(v) {
		out[k], _ = value.(string)
	}
	return out
}
