package conformance

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	planned "github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

func TestConformanceJobs(t *testing.T) {
	engine := JobsEngine{Refuse: jobFaults, Stored: jobStored, Render: renderJob, DaemonNodes: daemonNodes}
	Area(t, "jobs", func(_ *testing.T, c Case) error { return Jobs(c, engine) })
}

// jobFaults asks the check what it has against an object.
func jobFaults(object, old map[string]any, around []map[string]any) []string {
	in, context := parsed([]map[string]any{object}), parsed(around)
	q := check.Request{Object: in[0], Known: true}
	if old != nil {
		q.Old = parsed([]map[string]any{old})[0]
	}
	c := stage.New(resource.NewFacts(in, context, ""), stage.Options{Kruise: kruise.Next, Expand: stage.ExpandAll})
	var fields []string
	for _, f := range check.Object(c, q) {
		if !f.OfRelease { // the area was recorded without strict validation
			fields = append(fields, f.Field)
		}
	}
	return fields
}

// jobTypes are the kinds of the area.
var jobTypes = map[string]func() any{
	"AdvancedCronJob":          func() any { return &kruise.AdvancedCronJob{} },
	"BroadcastJob":             func() any { return &kruise.BroadcastJob{} },
	"ContainerRecreateRequest": func() any { return &kruise.ContainerRecreateRequest{} },
	"EphemeralJob":             func() any { return &kruise.EphemeralJob{} },
	"ImageListPullJob":         func() any { return &kruise.ImageListPullJob{} },
	"ImagePullJob":             func() any { return &kruise.ImagePullJob{} },
}

// jobStored fills in what Kruise stores.
func jobStored(object, pod map[string]any, version string) (map[string]any, error) {
	kind, _ := object["kind"].(string)
	obj := jobTypes[kind]()
	if unknown, err := kruise.Decode(tree.FromValue(object), obj); err != nil || len(unknown) > 0 {
		return nil, fmt.Errorf("decoding %s: %v, %w", kind, unknown, err)
	}
	kruise.DefaultStored(obj)
	if request, ok := obj.(*kruise.ContainerRecreateRequest); ok && pod != nil {
		var known corev1.Pod
		if _, err := tree.Decode(tree.FromValue(pod), &known); err != nil {
			return nil, err
		}
		kruise.DefaultRecreate(request, &known)
	}
	n, _, err := kruise.FromHub(tree.FromValue(obj), version)
	if err != nil {
		return nil, err
	}
	return tree.Value(n).(map[string]any), nil
}

// renderJob renders one object.
func renderJob(object map[string]any, around []map[string]any) (*JobsRendering, error) {
	out, err := render.Render(context.Background(), parsed([]map[string]any{object}), render.Options{Kruise: kruise.Next, Context: parsed(around), Patches: true})
	if err != nil {
		return nil, err
	}
	made := &JobsRendering{Findings: map[string]string{}}
	for _, r := range out.Resources {
		made.Objects = append(made.Objects, tree.Value(r.Node()).(map[string]any))
	}
	for _, f := range out.Findings {
		made.Findings[f.ID] = f.Message
	}
	for _, s := range out.Sequences {
		made.Said = append(made.Said, s.Warnings...)
		for i := range s.Steps {
			made.Steps = append(made.Steps, jobStep(&s.Steps[i]))
		}
	}
	return made, nil
}

func jobStep(s *patches.Step) JobsStep {
	out := JobsStep{Said: s.Notes}
	for _, c := range append(s.Before, s.After...) {
		out.Said = append(out.Said, c.Text)
	}
	if p := s.Patch; p != nil {
		out.Pod, out.Type, out.Subresource, out.Body = p.Target.Name, p.Type, p.Subresource, p.Body
	}
	return out
}

// daemonNodes asks the model of the DaemonSet controller.
func daemonNodes(set map[string]any, nodes []map[string]any) ([]string, error) {
	w, err := planned.ReadWorkload(tree.FromValue(set))
	if err != nil {
		return nil, err
	}
	known := map[string]*planned.Node{}
	for _, doc := range nodes {
		var n corev1.Node
		if _, err := tree.Decode(tree.FromValue(doc), &n); err != nil {
			return nil, err
		}
		if n.Spec.Unschedulable {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		}
		known[n.Name] = &planned.Node{Name: n.Name, Labels: n.Labels, Taints: n.Spec.Taints}
	}
	pass, err := controller.Reconcile(&controller.View{Workload: w, Nodes: known})
	if err != nil {
		return nil, err
	}
	var on []string
	for _, a := range pass.Actions {
		if create, ok := a.(controller.CreatePod); ok {
			on = append(on, create.Node)
		}
	}
	slices.Sort(on)
	return on, nil
}
