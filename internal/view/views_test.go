package view_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/changes"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view/html"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// numbers are how many of the pods that there were go through what.
type numbers struct{ Kept, Recreated, Deleted int }

// TestViews_HaveTheSameNumbers: for random changes, each view of what a change does to pods has the
// numbers that one write of the object has in the model.
func TestViews_HaveTheSameNumbers(t *testing.T) {
	pairs := uint64(400)
	if testing.Short() {
		pairs = 100
	}
	compared, views := 0, map[string]int{}
	for number := range pairs {
		c, err := newPair(number)
		if err != nil {
			t.Fatalf("pair %d: %v", number, err)
		}
		applied, err := simulate.Applied(c.desired, c.snapshot)
		if err != nil {
			t.Fatalf("pair %d: %v\n%s", number, err, c)
		}
		want := ofTouches(applied.Touches)
		for _, v := range c.views(t, want) {
			views[v.name]++
			if v.got != want {
				t.Errorf("pair %d: %s has %+v, one write %+v\n%s", number, v.name, v.got, want, c)
			}
		}
		compared++
	}
	for _, name := range []string{"plan", "plan page", "plan as text", "plan as Markdown", "plan as HTML", "simulation", "comparison", "comparison as JSON", "explanation"} {
		if views[name]*100 < 30*compared {
			t.Errorf("%s was looked at for %d of %d changes only", name, views[name], compared)
		}
	}
}

func ofTouches(list []plan.Touch) (n numbers) {
	for _, touch := range list {
		n.add(touch.Mode)
	}
	return n
}

func (n *numbers) add(mode rules.UpdateMode) {
	switch mode {
	case rules.ModeRecreate:
		n.Recreated++
	case rules.ModeDelete:
		n.Deleted++
	default:
		n.Kept++
	}
}

// pair is one change in a cluster that has its pods.
type pair struct {
	*changes.Change
	old, next *tree.Node
	desired   *cluster.Workload
	snapshot  plan.Snapshot
}

func newPair(number uint64) (*pair, error) {
	c := &pair{Change: changes.New(number)}
	o := simulate.DefaultOptions()
	o.Gates.StatefulSetStartOrdinal = true
	o.Gates.MaxUnavailableStatefulSet = c.Kind == "apps/v1 StatefulSet"
	broken := map[string]bool{}
	w, ref, err := c.begin(o)
	if err != nil {
		return nil, err
	}
	s, err := w.Snapshot(ref)
	if err != nil {
		return nil, err
	}
	var pods []string
	for _, p := range s.Pods {
		pods = append(pods, p.Name)
	}
	slices.Sort(pods)
	for _, i := range c.NotReady {
		broken[pods[i]] = true
	}
	if len(broken) > 0 {
		o.Agent.Override = func(p *cluster.Pod) simulate.Override {
			main, _ := p.Container("main")
			return simulate.Override{Unready: broken[p.Name] && main.Image == changes.Image}
		}
		if w, ref, err = c.begin(o); err != nil {
			return nil, err
		}
		if s, err = w.Snapshot(ref); err != nil {
			return nil, err
		}
	}
	c.old, c.next, c.snapshot = tree.FromValue(named(c.Old, ref)), tree.FromValue(named(c.Named(pods), ref)), s
	c.desired, err = cluster.ReadWorkload(c.next)
	return c, err
}

// named puts the workload where its pods are.
func named(o map[string]any, ref cluster.Ref) map[string]any {
	if ref.Namespace != "" {
		o["metadata"] = map[string]any{"name": ref.Name, "namespace": ref.Namespace}
	}
	return o
}

// begin is the cluster before the change.
func (c *pair) begin(o simulate.Options) (*simulate.World, cluster.Ref, error) {
	w := simulate.New(o)
	for i := range changes.Nodes {
		w.AddNode(fmt.Sprintf("node-%d", i), nil)
	}
	kind, _ := c.Old["kind"].(string)
	version, _ := c.Old["apiVersion"].(string)
	ref := cluster.Ref{Group: resource.GroupOf(version), Kind: kind, Namespace: "shop", Name: "web"}
	var list []*tree.Node
	if kind == kruise.KindSidecarSet {
		metadata, _ := c.Old["metadata"].(map[string]any)
		ref.Namespace, ref.Name = "", fmt.Sprint(metadata["name"])
		list = append(list, tree.FromValue(c.Old), tree.FromValue(map[string]any{
			"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "metadata": map[string]any{"name": "web", "namespace": "shop"},
			"spec": map[string]any{"replicas": 5, "selector": map[string]any{"matchLabels": map[string]any{"app": "web"}}, "template": changes.Template()},
		}))
	} else {
		list = append(list, tree.FromValue(named(c.Old, ref)))
	}
	if err := w.Apply(list...); err != nil {
		return w, ref, err
	}
	_, err := w.Settle(time.Hour)
	return w, ref, err
}

// seen is what one view has.
type seen struct {
	name string
	got  numbers
}

// views are those that the change has: no plan is made of one that is refused or cannot finish,
// a comparison of a paused workload counts nothing, and an explanation is of pods that are all
// ready.
func (c *pair) views(t *testing.T, want numbers) []seen {
	t.Helper()
	return slices.Concat(c.plans(t), c.comparisons(t), c.explanations(want))
}

func (c *pair) plans(t *testing.T) []seen {
	t.Helper()
	o := simulate.DefaultOptions()
	o.Gates, o.Start = c.snapshot.Gates, simulate.RecordedAt(c.snapshot.Pods)
	p, line, err := simulate.Build(c.desired, c.snapshot, plan.Policy{Steps: []plan.PolicyStep{{To: plan.All}}}, o)
	if _, unfinished := errors.AsType[*simulate.UnfinishedError](err); unfinished || err != nil || p.Driver == plan.DriverClient {
		return nil
	}
	var out []seen
	see := func(name string, got numbers) { out = append(out, seen{name, got}) }
	var steps numbers
	for i := range p.Steps {
		for _, pod := range p.Steps[i].Pods {
			steps.add(pod.Mode)
		}
	}
	see("plan", steps)
	page := view.NewPlanPage(p, &line)
	var pods numbers
	for _, pod := range page.Pods {
		if pod.Step > 0 {
			pods.add(pod.Mode)
		}
	}
	see("plan page", pods)
	see("simulation", numbers{steps.Kept, line.Summary.Recreated, line.Summary.Deleted})
	var text, markdown, page2 bytes.Buffer
	for _, err := range []error{
		view.Plan(&text, p, &line.Summary, view.Style{Full: true}), view.NewPlanPage(p, &line).Markdown(&markdown),
		html.Run(&page2, page, html.About{}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := fmt.Sprintf("%d recreated%s", line.Summary.Recreated, line.Summary.AndDeleted())
	for _, rendered := range []struct{ name, text string }{{"plan as text", text.String()}, {"plan as Markdown", markdown.String()}} {
		if len(p.Steps) > 0 && !strings.Contains(rendered.text, want) {
			t.Errorf("no %q in the %s:\n%s", want, rendered.name, rendered.text)
		}
		see(rendered.name, c.listed(&p, rendered.text, steps))
	}
	see("plan as HTML", c.listed(&p, page2.String(), steps))
	return out
}

// listed are the numbers if each pod that a step names is in the text, and none otherwise.
func (c *pair) listed(p *plan.Plan, text string, steps numbers) numbers {
	for i := range p.Steps {
		for _, pod := range p.Steps[i].Pods {
			if !strings.Contains(text, pod.Name) {
				return numbers{}
			}
		}
	}
	return steps
}

func (c *pair) comparisons(t *testing.T) []seen {
	t.Helper()
	origin := resource.Origin{File: "web.yaml"}
	was, is := []*resource.Resource{resource.Parsed(c.old, nil, origin)}, []*resource.Resource{resource.Parsed(c.next, nil, origin)}
	report := compare.Run(t.Context(), was, is, compare.Options{Gates: c.snapshot.Gates, Observed: func(cluster.Ref) (plan.Snapshot, bool) { return c.snapshot, true }})
	if len(report.Changes) != 1 || report.Changes[0].Rollout == nil || report.Changes[0].Rollout.Down < 0 {
		return nil
	}
	r := report.Changes[0].Rollout
	out := []seen{{"comparison", numbers{r.Reach - r.Recreated, r.Recreated, len(r.Deleted)}}}
	var data bytes.Buffer
	if err := view.Changes(report).JSON(&data); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Changes []struct {
			Rollout struct {
				Mode    rules.UpdateMode `json:"mode"`
				Follow  int              `json:"follow"`
				BySurge int              `json:"recreatedBySurge"`
				Deleted int              `json:"podsDeleted"`
			}
		}
	}
	if err := json.Unmarshal(data.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	j := read.Changes[0].Rollout
	recreated := j.BySurge
	if j.Mode == rules.ModeRecreate {
		recreated = j.Follow
	}
	return append(out, seen{"comparison as JSON", numbers{j.Follow - recreated, recreated, j.Deleted}})
}

// explanations have no number of deleted pods: the explanation is of the template.
func (c *pair) explanations(want numbers) []seen {
	if len(c.NotReady)+len(c.Deleted) > 0 {
		return nil
	}
	x := view.Explained(c.snapshot.Workload, c.desired, c.snapshot.Gates)
	recreated := 0
	if x.Surge != nil {
		recreated = x.Surge.Recreated
	} else if x.Mode == rules.ModeRecreate {
		recreated = x.Reached
	}
	return []seen{{"explanation", numbers{x.Reached - recreated, recreated, want.Deleted}}}
}
