package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// compareExtremes compares the highest and lowest counts of a step.
func compareExtremes(s conformance.RolloutStep, b *bed) error {
	x := b.recorder.extremes
	var errs []error
	for _, e := range []struct {
		name string
		got  int
	}{{"maxUnavailable", x.down}, {"minAvailable", x.available}, {"minReady", x.ready}, {"maxTotal", x.pods}} {
		want, ok := s.Trace.Summary[e.name].(float64)
		if ok && int(want) != e.got {
			errs = append(errs, fmt.Errorf("%s: recorded %d, ours %d", e.name, int(want), e.got))
		}
	}
	return errors.Join(errs...)
}

// end is what is compared of a pod after a step.
type end struct {
	Revision, State, Containers, Labels, Finalizers, Waiting string
	Ready, Deleting                                          bool
}

func endOf(p *cluster.Pod) end {
	var containers []string
	for _, c := range p.Containers {
		containers = append(containers, fmt.Sprintf("%s=%s restarts=%d ready=%v %s", c.Name, c.Image, c.Restarts, c.Ready, strings.TrimPrefix(c.Waiting, waitingCreating)))
	}
	return end{
		Revision: hashOf(p), State: p.Labels["lifecycle.apps.kruise.io/state"], Containers: strings.Join(containers, "; "),
		Labels: labelsThatMatter(p.Labels), Finalizers: strings.Join(p.Finalizers, ","), Ready: isReady(p), Deleting: p.Deleting,
	}
}

// labelsThatMatter leaves out what is different in each run.
func labelsThatMatter(labels map[string]string) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		if strings.HasPrefix(k, "topology.kubernetes.io/") || k == "apps.kruise.io/cloneset-instance-id" {
			continue
		}
		out = append(out, k+"="+labels[k])
	}
	return strings.Join(out, " ")
}

// comparePods compares the pods after a step: those that were there before one
// by one, new ones by what they are.
func comparePods(s conformance.RolloutStep, b *bed, before map[string]*cluster.Pod) error {
	classes := ties(s, before)
	want, got := map[string]int{}, map[string]int{}
	for _, r := range s.After.Pods {
		if r.Owner == b.owner.Kind+"/"+b.owner.Name {
			want[spell(b.recorded(r), classes)]++
		}
	}
	for _, p := range b.pods() {
		got[b.spelling.Replace(spell(p, classes))]++
	}
	return conformance.Different("the pods at the end", cmp.Diff(sorted(want), sorted(got)))
}

func spell(p *cluster.Pod, classes map[string]string) string {
	name, known := classes[p.UID]
	if !known {
		name = "new"
	}
	return fmt.Sprintf("%s: %+v", name, endOf(p))
}

func sorted(counts map[string]int) []string {
	var out []string
	for text, n := range counts {
		for range n {
			out = append(out, text)
		}
	}
	sort.Strings(out)
	return out
}

// compareRevisions compares how many pods there are of which kind.
func compareRevisions(s conformance.RolloutStep, b *bed) error {
	want, got := map[string]int{}, map[string]int{}
	for _, r := range s.After.Pods {
		if r.Owner == b.owner.Kind+"/"+b.owner.Name {
			p := b.recorded(r)
			want[fmt.Sprintf("%s ready=%v %s", hashOf(p), isReady(p), images(p))]++
		}
	}
	for _, p := range b.pods() {
		got[b.spelling.Replace(fmt.Sprintf("%s ready=%v %s", hashOf(p), isReady(p), images(p)))]++
	}
	return conformance.Different("the pods by revision", cmp.Diff(sorted(want), sorted(got)))
}

func images(p *cluster.Pod) string {
	var out []string
	for _, c := range p.Containers {
		out = append(out, c.Image)
	}
	return strings.Join(out, ",")
}

// compareStatus compares the status of the object under test.
func compareStatus(s conformance.RolloutStep, b *bed) error {
	read, err := cluster.ReadWorkload(tree.FromValue(b.placed(s.After.Workload)))
	if err != nil {
		return err
	}
	want, err := statusOf(read)
	if err != nil {
		return err
	}
	ours, err := inVersion(b.World.store.objects[b.target].workload, s.After.Workload)
	if err != nil {
		return err
	}
	got, err := statusOf(ours)
	if err != nil {
		return err
	}
	for k, v := range got {
		if text, ok := v.(string); ok {
			got[k] = b.spelling.Replace(text)
		}
	}
	return conformance.Different("the status", cmp.Diff(want, got))
}

// inVersion is a workload as it is served in the recorded version, which may have fewer fields of
// status.
func inVersion(w *cluster.Workload, recorded map[string]any) (*cluster.Workload, error) {
	_, version, _ := strings.Cut(fmt.Sprint(recorded["apiVersion"]), "/")
	n, _, err := kruise.FromHub(tree.FromValue(w.Object), version)
	if err != nil {
		return nil, err
	}
	return cluster.ReadWorkload(n)
}

// statusOf is a status as plain values, without what is different in each run.
func statusOf(w *cluster.Workload) (map[string]any, error) {
	data, err := json.Marshal(part(w.Object, "Status"))
	if err != nil {
		return nil, err
	}
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	if conditions, _ := v["conditions"].([]any); true {
		delete(v, "conditions")
		for _, c := range conditions {
			if c, _ := c.(map[string]any); c["type"] == "Progressing" {
				v["progressing"] = fmt.Sprint(c["status"], " ", c["reason"])
			}
		}
	}
	for k, value := range v {
		if value == 0.0 {
			delete(v, k)
		}
	}
	return v, nil
}
