package planning

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// unpredicted are the recordings that a plan foretells wrongly, and why. One that it foretells fails
// the test until it is taken out here.
var unpredicted = map[string]string{
	"e8-q915-15": "the rollout that was recorded wrote replicas and template one after the other: the pods that the first write created count as updated too late",
	"m-q913-38":  "three pods stay in PreparingDelete in the recording: their preDelete hook was not answered, and a plan takes hooks to be",
}

// TestConformancePredictions compares the pods that the steps of a plan name, and the run of it, with
// those that the real controllers changed, and how.
func TestConformancePredictions(t *testing.T) {
	conformance.Area(t, "predictions", func(t *testing.T, c conformance.Case) error {
		t.Helper()
		err := comparePrediction(t, c)
		why, listed := unpredicted[c.Name]
		switch {
		case !listed || !conformance.Recorded():
			return err
		case err == nil:
			return fmt.Errorf("foretold, though unpredicted has it: %s", why)
		}
		t.Skipf("%s\n%v", why, err)
		return nil
	})
}

// recordedChange is what the real controllers did.
type recordedChange struct {
	Kind, Steps, Written, Release string
	Order                         []recordedTouch
	// Created and Deleted are names.
	Created, Deleted []string
	MostUnavailable  int
	MostPods         int
	EndOld, EndNew   int
	// ReplicasBefore and ReplicasAfter are those of the recorder's rollout, in this order or the other.
	ReplicasBefore, ReplicasAfter int
}

func comparePrediction(t *testing.T, c conformance.Case) error {
	t.Helper()
	var want recordedChange
	if err := readJSON(c, "real.json", &want); err != nil {
		return err
	}
	if want.Kind == "ud" {
		return want.compareSubsets(t, c)
	}
	made, ties, err := foretold(t, c, strings.Replace(want.Release, "master", "next", 1), want.steps)
	if err != nil {
		return err
	}
	return errors.Join(want.comparePods(made, ties), want.compareNumbers(made))
}

// tiesOf names the group of each pod that Kruise treats as it does others.
func tiesOf(desired *cluster.Workload, s plan.Snapshot) (map[string]string, error) {
	p, err := plan.Build(desired, s, plan.Policy{Steps: []plan.PolicyStep{{To: plan.All}}})
	out := map[string]string{}
	for _, step := range p.Steps {
		for _, pod := range step.Pods {
			if pod.Tie > 0 {
				out[pod.Name] = fmt.Sprint("one of tie ", pod.Tie)
			}
		}
	}
	return out, err
}

// surplusOf names the group of each pod that scale-down treats as it does others, of a CloneSet whose pods
// are updated in place: what is recreated then, scale-down has taken.
func surplusOf(made *Made) map[string]string {
	o, ok := made.Snapshot.Workload.Object.(*kruise.CloneSet)
	if !ok || made.Plan.Change.Mode != rules.ModeInPlace {
		return nil
	}
	out := map[string]string{}
	ties := (&rules.CloneSet{Spec: &o.Spec, Update: o.Status.UpdateRevision, Pods: made.Snapshot.Pods, Nodes: made.Snapshot.Nodes, Now: made.At}).ScaleDownTies()
	for _, p := range made.Snapshot.Pods {
		if ties[p.UID] > 0 {
			out[p.Name] = fmt.Sprint("one of surplus ", ties[p.UID])
		}
	}
	return out
}

type recordedTouch struct {
	Pod, How string
	At       float64
}

// comparePods compares the pods and what becomes of each; those of a tie can be exchanged.
func (r *recordedChange) comparePods(made *Made, ties map[string]string) error {
	surplus := surplusOf(made)
	named := func(pod, how string) string {
		if how == "recreate" {
			return cmp.Or(surplus[pod], ties[pod], pod) + " " + how
		}
		return cmp.Or(ties[pod], pod) + " " + how
	}
	var got, really []string
	for _, step := range made.Plan.Steps {
		for _, pod := range step.Pods {
			got = append(got, named(pod.Name, touchWord(pod.Mode)))
		}
	}
	seen := map[string]bool{}
	for _, pod := range r.Order {
		if !seen[pod.Pod+pod.How] {
			really = append(really, named(pod.Pod, pod.How))
		}
		seen[pod.Pod+pod.How] = true
	}
	if diff := gocmp.Diff(sorted(really), sorted(got)); diff != "" {
		return fmt.Errorf("pods that the plan names (-real +plan):\n%s%s %s", diff, made.Predicted.Summary.Outcome, made.Predicted.Summary.Reason)
	}
	if r.ReplicasBefore != r.ReplicasAfter { // scale-down may not tell pods apart that the update does
		return nil
	}
	for i, a := range r.Order {
		for _, b := range r.Order[i+1:] {
			first, then := slices.Index(got, named(a.Pod, a.How)), slices.Index(got, named(b.Pod, b.How))
			if ties[a.Pod] == "" && ties[b.Pod] == "" && b.At-a.At > atOnce && first > then {
				return fmt.Errorf("%s comes before %s, really after it", b.Pod, a.Pod)
			}
		}
	}
	return nil
}

// atOnce is how many seconds apart a recording has pods whose order is that of answers, not of decisions.
const atOnce = 0.5

// inTwoWrites reports whether the rollout that was recorded wrote the number of pods by itself, which a plan
// does no more: in between, fewer pods are available than a plan foretells.
func (r *recordedChange) inTwoWrites() bool {
	return r.Written == "rollout" && r.ReplicasBefore != r.ReplicasAfter
}

// compareNumbers compares the most pods and the most that were unavailable, which the recorder may
// have missed, and how many were created.
func (r *recordedChange) compareNumbers(made *Made) error {
	var errs []error
	sum := made.Predicted.Summary
	if r.Kind != "sidecar" && sum.MostPods < r.MostPods { // a recording has all pods of the namespaces
		errs = append(errs, fmt.Errorf("at most %d pods, really %d", sum.MostPods, r.MostPods))
	}
	if !r.inTwoWrites() && sum.MostDown < r.MostUnavailable {
		errs = append(errs, fmt.Errorf("at most %d pods unavailable, really %d", sum.MostDown, r.MostUnavailable))
	}
	created := 0
	for _, record := range made.Predicted.Records {
		if record.Op == simulate.OpCreate {
			created++
		}
	}
	if created != len(r.Created) {
		errs = append(errs, fmt.Errorf("%d pods are created, really %d", created, len(r.Created)))
	}
	if n := len(made.Predicted.Samples); n > 0 {
		last := made.Predicted.Samples[n-1]
		old, updated := last.Old+last.OldDown, last.New+last.NewDown
		if r.Kind != "sidecar" && (old != r.EndOld || updated != r.EndNew) {
			errs = append(errs, fmt.Errorf("ends with %d old and %d new pods, really %d and %d", old, updated, r.EndOld, r.EndNew))
		}
	}
	return errors.Join(errs...)
}

// steps are those of the rollout; one write of the file is one step, to where its partition allows.
func (r *recordedChange) steps(desired *cluster.Workload, s plan.Snapshot) (plan.Policy, error) {
	if r.Written == "rollout" {
		steps, err := plan.ParseSteps(r.Steps)
		return plan.Policy{Steps: steps}, err
	}
	p, err := plan.Build(desired, s, plan.Policy{})
	if err != nil {
		return plan.Policy{}, err
	}
	var steps []plan.PolicyStep
	for _, step := range p.Steps {
		for _, holds := range step.After {
			if n, err := strconv.Atoi(holds.Value); err == nil && n > 0 && holds.Type == plan.HoldsUpdatedAvailable {
				steps = []plan.PolicyStep{{To: plan.Pods(n)}}
			}
		}
	}
	return plan.Policy{Steps: steps}, nil
}

// givenName is a pod of a subset: Kruise adds a suffix to the name of the subset's workload.
var givenName = regexp.MustCompile(`^(w-[a-z]+)-[a-z0-9]{5}-(\d+)$`)

// compareSubsets compares the plans of the subsets of a UnitedDeployment, one after the other, with what the
// rollout that was recorded did. The workloads of the subsets were not recorded: those of the files are made up.
func (r *recordedChange) compareSubsets(t *testing.T, c conformance.Case) error {
	t.Helper()
	dir := t.TempDir()
	for _, file := range []string{"old.yaml", "new.yaml"} {
		data, err := c.Read(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	o, err := optionsOf("-f", filepath.Join(dir, "new.yaml"), "--against", filepath.Join(dir, "old.yaml"), "--kruise-version", strings.Replace(r.Release, "master", "next", 1), "--steps", r.Steps)
	if err != nil {
		return err
	}
	o.Preview = true
	parts, err := o.Each(t.Context())
	if err != nil {
		return err
	}
	var got, really []string
	created, down, most, old, updated := 0, 0, 0, 0, 0
	for _, one := range parts {
		made, err := one.Make(t.Context())
		if err != nil {
			return err
		}
		for _, step := range made.Plan.Steps {
			for _, pod := range step.Pods {
				got = append(got, pod.Name+" "+touchWord(pod.Mode))
			}
		}
		for _, record := range made.Predicted.Records {
			if record.Op == simulate.OpCreate {
				created++
			}
		}
		last := made.Predicted.Samples[len(made.Predicted.Samples)-1]
		old, updated = old+last.Old+last.OldDown, updated+last.New+last.NewDown
		down, most = max(down, made.Predicted.Summary.MostDown), most+made.Predicted.Summary.MostPods
	}
	for _, pod := range r.Order {
		really = append(really, givenName.ReplaceAllString(pod.Pod, "$1-$2")+" "+pod.How)
	}
	if diff := gocmp.Diff(really, got); diff != "" {
		return fmt.Errorf("pods that the plans name (-real +plan):\n%s", diff)
	}
	if diff := gocmp.Diff([]int{len(r.Created), r.MostUnavailable, r.MostPods, r.EndOld, r.EndNew}, []int{created, down, most, old, updated}); diff != "" {
		return fmt.Errorf("created, most unavailable, most pods, old and new in the end (-real +plan):\n%s", diff)
	}
	return nil
}

// optionsOf are the options of a command line.
func optionsOf(args ...string) (*Options, error) {
	streams := factory.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Getenv: func(string) string { return "" }}
	o := &Options{Maker: Maker{Factory: factory.New(streams)}}
	flags := &cobra.Command{}
	o.AddFlags(flags)
	return o, errors.Join(flags.ParseFlags(args), o.Complete(nil))
}

// foretold is the plan of the change, and the run of it, that the command line makes from files, and which
// pods the rules cannot tell apart.
func foretold(t *testing.T, c conformance.Case, release string, steps func(*cluster.Workload, plan.Snapshot) (plan.Policy, error)) (made *Made, ties map[string]string, err error) {
	t.Helper()
	dir := t.TempDir()
	old, changed := filepath.Join(dir, "old.yaml"), filepath.Join(dir, "new.yaml")
	if err := writeStart(c, old); err != nil {
		return nil, nil, err
	}
	data, err := c.Read("new.yaml")
	if err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(changed, data, 0o600); err != nil {
		return nil, nil, err
	}
	o, err := optionsOf("-f", changed, "--against", old, "--kruise-version", release)
	if err != nil {
		return nil, nil, err
	}
	from, to, err := o.states(t.Context())
	if err != nil {
		return nil, nil, err
	}
	made, err = o.draft(from, to, func(m *Made, desired *cluster.Workload, _ plan.Policy) error {
		policy, err := steps(desired, m.Snapshot)
		if err != nil {
			return err
		}
		if ties, err = tiesOf(desired, m.Snapshot); err != nil {
			return err
		}
		assumed := m.Assumed()
		assumed.Agent.Override = func(p *cluster.Pod) simulate.Override {
			const mark = "lab.test/unready"
			return simulate.Override{Unready: p.Labels[mark] != "" || p.Annotations[mark] != ""}
		}
		m.Plan, m.Predicted, err = simulate.Build(desired, m.Snapshot, policy, assumed)
		return err
	})
	if _, unfinished := errors.AsType[*simulate.UnfinishedError](err); unfinished {
		err = nil
	}
	return made, ties, err
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// touchWord is how a recording calls what becomes of a pod.
func touchWord(mode rules.UpdateMode) string {
	if mode == rules.ModeRecreate || mode == rules.ModeDelete {
		return "recreate"
	}
	return "inPlace"
}

func readJSON(c conformance.Case, name string, into any) error {
	data, err := c.Read(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// writeStart writes the objects before the change to a file.
func writeStart(c conformance.Case, file string) error {
	var before struct {
		Workload        map[string]any
		Pods, Revisions []map[string]any
	}
	if err := readJSON(c, "before.json", &before); err != nil {
		return err
	}
	items := []map[string]any{before.Workload}
	for _, p := range before.Pods {
		p["apiVersion"], p["kind"] = "v1", "Pod"
		items = append(items, p)
	}
	for _, r := range before.Revisions {
		r["apiVersion"], r["kind"] = "apps/v1", "ControllerRevision"
		items = append(items, r)
	}
	around, err := workloadsAround(c, before.Workload)
	if err != nil {
		return err
	}
	data, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": append(items, around...)})
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600)
}

// workloadsAround are those whose pods a SidecarSet matches, and their namespaces, which have the
// labels that its selector asks for.
func workloadsAround(c conformance.Case, set map[string]any) ([]map[string]any, error) {
	if !c.Has("apps.yaml") {
		return nil, nil
	}
	data, err := c.Read("apps.yaml")
	if err != nil {
		return nil, err
	}
	docs, err := conformance.Docs(data)
	if err != nil {
		return nil, err
	}
	labels := tree.Strings(tree.Get(tree.FromValue(set), "spec", "namespaceSelector", "matchLabels"))
	var out []map[string]any
	for _, doc := range docs {
		namespace := tree.StrAt(tree.FromValue(doc), "metadata", "namespace")
		out = append(out, doc, map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace, "labels": labels},
		})
	}
	return out, nil
}
