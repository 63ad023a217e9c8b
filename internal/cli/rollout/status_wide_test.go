package rollout

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestStatus_WithoutNamesIsWide: without a name, what is in progress is asked for; the error is of
// usage.
func TestStatus_WithoutNamesIsWide(t *testing.T) {
	for args, c := range map[string]struct {
		wide bool
		err  string
	}{
		"":                         {wide: true},
		"-A":                       {wide: true},
		"cloneset":                 {wide: true},
		"cloneset,deploy -A":       {wide: true},
		"cloneset -A -l app=web":   {wide: true},
		"-A --watch=false":         {wide: true},
		"-A -o json":               {wide: true},
		"cloneset/web":             {},
		"cloneset web":             {},
		"cloneset/web cloneset/db": {},
		"cloneset -l app=web":      {},
		"cloneset/web -A":          {wide: true, err: "goes with types"},
		"-A -f web.yaml":           {wide: true, err: "-A excludes -f"},
		"-A --watch":               {wide: true, err: "--watch goes with names"},
		"--detail":                 {wide: true, err: "--detail goes with names"},
		"-A --revision 1":          {wide: true, err: "--revision goes with names"},
	} {
		t.Run(args, func(t *testing.T) {
			o := &statusOptions{Execution: execute.Execution{Client: session.NewClient(factory.New(factory.Streams{}))}}
			cmd := o.command()
			if err := cmd.ParseFlags(strings.Fields(args)); err != nil {
				t.Fatal(err)
			}
			err := o.complete(cmd, cmd.Flags().Args())
			if o.wide != c.wide || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("wide %v, error %v", o.wide, err)
			}
		})
	}
}

// sightOf is a CloneSet of two pods, as its status counts them.
func sightOf(t *testing.T, name, status string) *kube.WorkloadView {
	t.Helper()
	n := yaml.MustParse(`
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: ` + name + `, namespace: shop, generation: 2, uid: ` + name + `}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "registry.example.com/web:1"}]}
status: {` + status + `}
`)
	w, err := cluster.ReadWorkload(n.YNode())
	if err != nil {
		t.Fatal(err)
	}
	return &kube.WorkloadView{Workload: w}
}

// TestStatus_ListsRolloutsInProgress: what is complete is left out; a recorded rollout is listed, and so is
// one controlled by a Kruise Rollout.
func TestStatus_ListsRolloutsInProgress(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	begun := sightOf(t, "begun", "observedGeneration: 1")
	begun.Begun = true
	begun.Record = plan.Record{Ref: begun.Ref(), Begun: now, Plan: plan.Plan{Driver: plan.DriverKruise, Steps: []plan.Step{{Name: "first", Kind: plan.StepPause}, {Name: "rest", Kind: plan.StepPause}}}}
	halted := sightOf(t, "halted", "observedGeneration: 1")
	halted.Begun, halted.Record = true, begun.Record
	halted.Record.Progress.Failed = "the image is not there"
	workloads := []*kube.WorkloadView{sightOf(t, "late", "observedGeneration: 1"), begun, halted}
	list := inProgress(workloads, map[cluster.Ref]*release.Rollout{workloads[0].Ref(): {Name: "canary", Phase: "Progressing"}}, now)
	if len(list) != 3 {
		t.Fatalf("%d of 3: %v", len(list), list)
	}
	var out bytes.Buffer
	o := &statusOptions{Execution: execute.Execution{Client: session.NewClient(factory.New(factory.Streams{Out: &out, Environ: os.Environ()})), Flags: execute.Flags{Output: "text"}}}
	if err := o.printAll(list); err != command.ErrFailed { //nolint:errorlint // the very error is the exit code
		t.Errorf("ends with %v", err)
	}
	for _, want := range []string{"NAMESPACE  WORKLOAD", "shop       cloneset/late", "Kruise Rollout canary", "step 1 of 2", "halted", "the image is not there"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// TestStatus_ReportsUnattendedRollouts: a rollout whose executor has ended is shown as such.
func TestStatus_ReportsUnattendedRollouts(t *testing.T) {
	s := view.RolloutStatus{Name: "cloneset/web", Begun: time.Now(), Decision: plan.Decision{Verb: plan.Act}}
	var out bytes.Buffer
	if err := view.StatusLines(&out, []view.RolloutStatus{s}, view.Style{}); err != nil || !strings.Contains(out.String(), "no process is running the rollout") || strings.Contains(out.String(), "NAMESPACE") {
		t.Errorf("%v\n%s", err, &out)
	}
}
