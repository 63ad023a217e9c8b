package world

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

// TestJudge_ReducesTheStateToOneWord: what is recorded, and what blocks it, come to one word.
func TestJudge_ReducesTheStateToOneWord(t *testing.T) {
	promote := diagnose.Cause{Gate: plan.GatePromote, Blocked: true}
	crash := diagnose.Cause{Gate: plan.GateReady, Blocked: true}
	waits := diagnose.Cause{Gate: diagnose.GateTurn}
	full := plan.Tally{Desired: 3, Total: 3, Ready: 3, Updated: 3, UpdatedReady: 3}
	half := plan.Tally{Desired: 3, Total: 3, Ready: 3, Updated: 1, UpdatedReady: 1}
	short := plan.Tally{Desired: 3, Total: 3, Ready: 2, Updated: 3, UpdatedReady: 2}
	for name, c := range map[string]struct {
		progress plan.Progress
		begun    bool
		pods     plan.Tally
		causes   []diagnose.Cause
		want     Health
	}{
		"as it should be":                    {pods: full, want: Healthy},
		"a rollout that is over":             {begun: true, progress: plan.Progress{Finished: time.Unix(1, 0)}, pods: full, want: Healthy},
		"a rollout in progress":              {begun: true, pods: half, causes: []diagnose.Cause{waits}, want: Progressing},
		"pods become updated without one":    {pods: half, want: Progressing},
		"a pause":                            {begun: true, pods: half, causes: []diagnose.Cause{promote}, want: Paused},
		"a pause while a pod crashes":        {begun: true, pods: half, causes: []diagnose.Cause{crash, promote}, want: Paused},
		"a pod crashes":                      {begun: true, pods: half, causes: []diagnose.Cause{crash}, want: Blocked},
		"halted, whatever else":              {begun: true, progress: plan.Progress{Failed: "crash"}, pods: half, causes: []diagnose.Cause{promote}, want: Blocked},
		"ended by a person":                  {begun: true, progress: plan.Progress{Failed: "aborted by kim", Aborted: true}, pods: half, causes: []diagnose.Cause{crash}, want: Aborted},
		"nothing is rolled out, one is down": {pods: short, want: Degraded},
		"a pod crashes, nothing rolled out":  {pods: short, causes: []diagnose.Cause{crash}, want: Blocked},
	} {
		d := Detail{Pods: c.pods, Diagnosis: diagnose.Diagnosis{Causes: c.causes}}
		d.Begun, d.Snapshot.Progress = c.begun, c.progress
		if got := d.judge(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestRow_OfTheListIsThatOfTheDetail: the row of the list is that of the detail.
func TestRow_OfTheListIsThatOfTheDetail(t *testing.T) {
	ref := cluster.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	w := &cluster.Workload{Ref: ref, Labels: map[string]string{"app": "web"}, Object: &appsv1.Deployment{}}
	q := diagnose.Question{Begun: true}
	q.Snapshot.Workload, q.Snapshot.Progress.Step = w, 7
	q.Plan.Driver, q.Plan.Steps = plan.DriverNative, []plan.Step{{Name: "1"}, {Name: "100%"}}
	row := Describe(q, nil).Row()
	if row.Ref != ref || row.Driver != plan.DriverNative || row.Steps != 2 || row.StepName != "100%" || row.Labels["app"] != "web" || row.Why == "" {
		t.Errorf("%+v", row)
	}
}

func TestWorld_FindsByReference(t *testing.T) {
	ref := cluster.Ref{Kind: "CloneSet", Name: "web"}
	w := World{Workloads: []*Workload{{Ref: ref}}, Detail: &Detail{Ref: ref}}
	if w.Find(ref) == nil || w.Find(cluster.Ref{}) != nil || w.Of(ref) == nil || w.Of(cluster.Ref{}) != nil {
		t.Error("a workload is not found, or one that is not there is")
	}
}
