package plan_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// asked is a rollout that a person has paused and whose controller is not stopped yet.
func asked() plan.Progress {
	p, err := plan.Progress{Started: noon}.Pause(plan.Plan{Steps: make([]plan.Step, 1)}, "ann", noon)
	if err != nil {
		panic(err)
	}
	return p
}

// subset makes a workload that of a UnitedDeployment.
func subset(w *cluster.Workload) {
	controls := true
	owner := []metav1.OwnerReference{{APIVersion: beta, Kind: "UnitedDeployment", Name: "all", Controller: &controls}}
	w.Object.(metav1.Object).SetOwnerReferences(owner)
}

// TestStop_PatchesEachKind: the field that stops each kind is written where its version has it, after
// the request is recorded. The stories of pkg/apply show that pods stay.
func TestStop_PatchesEachKind(t *testing.T) {
	ordered := manifest(beta, "StatefulSet", plain+"  replicas: 4\n")
	for name, c := range map[string]struct {
		text string
		edit func(w *cluster.Workload)
		want string
	}{
		"CloneSet":                  {kinds["CloneSet v1beta1"], nil, `{"spec":{"updateStrategy":{"rollingUpdate":{"paused":true}}}}`},
		"CloneSet v1alpha1":         {kinds["CloneSet v1alpha1"], nil, `{"spec":{"updateStrategy":{"paused":true}}}`},
		"CloneSet surge":            {kinds["CloneSet surge"], nil, `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":3}}}}`},
		"CloneSet of a subset":      {kinds["CloneSet v1beta1"], subset, `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":3}}}}`},
		"StatefulSet":               {ordered, nil, `{"spec":{"updateStrategy":{"rollingUpdate":{"paused":true}}}}`},
		"StatefulSet of a subset":   {ordered, subset, `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":2}}}}`},
		"SidecarSet":                {mesh, nil, `{"spec":{"updateStrategy":{"paused":true}}}`},
		"DaemonSet":                 {kinds["DaemonSet in place"], nil, `{"spec":{"updateStrategy":{"rollingUpdate":{"paused":true}}}}`},
		"native Deployment":         {kinds["native Deployment"], nil, `{"spec":{"paused":true}}`},
		"native StatefulSet":        {kinds["native StatefulSet"], nil, `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":2}}}}`},
		"native DaemonSet":          {kinds["native DaemonSet"], nil, `{"spec":{"updateStrategy":{"type":"OnDelete"}}}`},
		"native DaemonSet OnDelete": {manifest(natives, "DaemonSet", plain+"  updateStrategy: {type: OnDelete}\n"), nil, "none"},
		"paused already":            {manifest(beta, "CloneSet", plain+"  updateStrategy: {rollingUpdate: {paused: true}}\n"), nil, "none"},
		"partition already":         {manifest(natives, "StatefulSet", plain+"  replicas: 4\n  updateStrategy: {rollingUpdate: {partition: 3}}\n"), nil, "none"},
	} {
		w := read(t, c.text)
		if c.edit != nil {
			c.edit(w)
		}
		s := plan.Snapshot{Workload: w, Progress: asked(), Pods: fivePods(w)}
		p := plan.Plan{
			Target: plan.Target{APIVersion: w.Group + "/" + w.Version, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name},
			Driver: plan.DriverKruise, Steps: []plan.Step{{Name: "update", Kind: plan.StepUpdate}},
		}
		d := plan.Next(p, s, noon)
		got := "none"
		if d.Verb == plan.Act {
			text, _ := json.Marshal(d.Actions[0].Patch.Body)
			got = string(text)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s (%s)", name, got, c.want, d.Reason)
		}
		stop := d.Progress.Stop
		if err := stop.Check(); err != nil || stop.Done != (got == "none") || (stop.Field == "") != stop.Done {
			t.Errorf("%s: %+v, %v", name, stop, err)
		}
	}
}

// fivePods are pods of which the last two have the new template; of a surging CloneSet and a
// subset three of the five it wants are old.
func fivePods(w *cluster.Workload) []*cluster.Pod {
	const newest = "web-new"
	switch o := w.Object.(type) {
	case *kruise.CloneSet:
		o.Status.UpdateRevision = newest
	case *kruise.StatefulSet:
		o.Status.UpdateRevision = newest
	case *appsv1.StatefulSet:
		o.Status.UpdateRevision = newest
	}
	var out []*cluster.Pod
	for i := range 5 {
		revision := "web-old"
		if i > 2 {
			revision = newest
		}
		out = append(out, &cluster.Pod{Name: fmt.Sprintf("web-%d", i), Phase: corev1.PodRunning, Labels: map[string]string{"controller-revision-hash": revision}})
	}
	if !strings.HasSuffix(w.Kind, "StatefulSet") {
		return out
	}
	out[2].Deleting = true // the next that the controller has begun with
	return out[:4]
}
