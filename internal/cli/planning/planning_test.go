package planning

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// asked reads a command line as a verb does.
func asked(t *testing.T, args ...string) (*Options, error) {
	t.Helper()
	t.Setenv("KUBECONFIG", "/nonexistent/kubeconfig")
	o := &Options{Maker: Maker{Factory: factory.New(factory.Streams{In: strings.NewReader(""), Out: os.Stdout, Err: os.Stderr})}}
	var err error
	c := &cobra.Command{Use: "x", RunE: func(_ *cobra.Command, rest []string) error { err = o.Complete(rest); return nil }}
	o.AddFlags(c)
	c.SetArgs(args)
	if e := c.Execute(); e != nil {
		t.Fatal(e)
	}
	return o, err
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const web = `apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}, {name: side, image: "side:1"}]}
`

func TestMake_RefusesWrongArguments(t *testing.T) {
	for _, args := range [][]string{
		{},
		{"cloneset/web"},
		{"cloneset/web", "clone/api", "--image", "a=b"},
		{"web", "--image", "a=b"},
		{"--image", "a=b"},
		{"-f", "a.yaml", "-k", "b"},
		{"clone/web", "--image", "main"},
		{"clone/web", "--image", "=x"},
		{"clone/web", "--image", "a=b", "--pods", "3"},
		{"clone/web", "--image", "a=b", "--against", "live", "--with", "x"},
		{"clone/web", "--image", "a=b", "--against", "x.yaml", "--pods", "-1"},
		{"clone/web", "--image", "a=b", "--feature-gates", "x=true"},
	} {
		var bad *command.UsageError
		if _, err := asked(t, args...); !errors.As(err, &bad) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func made(t *testing.T, args ...string) *Made {
	t.Helper()
	o, err := asked(t, args...)
	if err != nil {
		t.Fatal(args, err)
	}
	m, err := o.Make(context.Background())
	if err != nil {
		t.Fatal(args, err)
	}
	return m
}

// TestMake_FromFiles: a new image for what a file holds, and no kubeconfig.
func TestMake_FromFiles(t *testing.T) {
	m := made(t, "--against", file(t, web), "--image", "main=web:2", "--steps", "1,100%", "--pause-after", "1")
	if m.Plan.Target.UID != "" || m.Plan.Change.Mode != rules.ModeInPlace || m.Plan.Limits.Replicas != 4 || len(m.Snapshot.Pods) != 4 {
		t.Errorf("%+v", m.Plan)
	}
	var kinds []plan.StepKind
	for _, s := range m.Plan.Steps {
		kinds = append(kinds, s.Kind)
	}
	if diff := cmp.Diff([]plan.StepKind{plan.StepPullImages, plan.StepUpdate, plan.StepPause, plan.StepPartition}, kinds); diff != "" {
		t.Error(diff)
	}
}

// TestMake_AssumedPodsDoNotScale: assuming another number of pods does not scale.
func TestMake_AssumedPodsDoNotScale(t *testing.T) {
	old, updated := file(t, web), file(t, strings.Replace(web, "web:1", "web:2", 1))
	for _, args := range [][]string{
		{"--against", old, "--image", "*=x:2", "--pods", "30"},
		{"--against", old, "-f", updated, "--pods", "30"},
		{"--against", old, "-f", file(t, strings.Replace(web, "replicas: 4\n", "minReadySeconds: 0\n", 1)), "--image", "main=web:2", "--pods", "30"},
	} {
		m := made(t, args...)
		if m.Plan.Limits.Replicas != 30 || len(m.Snapshot.Pods) != 30 {
			t.Errorf("%q: %d replicas, %d pods", args, m.Plan.Limits.Replicas, len(m.Snapshot.Pods))
		}
		if m.Plan.Resizes() {
			t.Errorf("%q: scales", args)
		}
	}
}

// TestMake_CountedStepsEndAtThePartition: steps of apply stop where the partition of the manifest
// does, a percentage, too, and there are none where that holds every pod.
func TestMake_CountedStepsEndAtThePartition(t *testing.T) {
	for _, c := range []struct {
		from, to string // replaced in the manifest
		updated  int    // pods
	}{
		{"", "", 4},
		{"rollingUpdate: {", "rollingUpdate: {partition: 3, ", 1},
		{"rollingUpdate: {", "rollingUpdate: {partition: 4, ", 0},
		{"rollingUpdate: {", "rollingUpdate: {partition: 100%, ", 0},
		{"rollingUpdate: {", "rollingUpdate: {partition: 50%, ", 2},
	} {
		now := strings.Replace(web, c.from, c.to, 1)
		o, err := asked(t, "--against", file(t, now), "-f", file(t, strings.Replace(now, "web:1", "web:2", 1)))
		if err != nil {
			t.Fatal(err)
		}
		o.Counted = true
		m, err := o.Make(context.Background())
		if err != nil {
			t.Errorf("%s: %v", c.to, err)
			continue
		}
		var updated int
		for _, s := range m.Plan.Steps {
			updated += len(s.Pods)
		}
		if updated != c.updated {
			t.Errorf("%s: %d pods are updated, want %d", c.to, updated, c.updated)
		}
	}
}

// TestMake_UsesThePodsOfContextObjects: pods in --with are those that the plan is for.
func TestMake_UsesThePodsOfContextObjects(t *testing.T) {
	pods := `apiVersion: v1
kind: Pod
metadata: {name: web-x, namespace: shop, uid: p1, creationTimestamp: "2026-03-01T00:00:00Z", labels: {app: web, controller-revision-hash: web-1}, ownerReferences: [{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web, uid: w1, controller: true}]}
spec: {nodeName: n7, readinessGates: [{conditionType: InPlaceUpdateReady}], containers: [{name: main, image: "web:1"}, {name: side, image: "side:1"}]}
status: {phase: Running, conditions: [{type: Ready, status: "True", lastTransitionTime: "2026-03-01T00:01:00Z"}]}
`
	present := strings.Replace(strings.Replace(web, "replicas: 4", "replicas: 1", 1), "namespace: shop", "namespace: shop, uid: w1", 1)
	m := made(t, "clone/web", "--against", file(t, present), "--with", file(t, pods), "--image", "side=side:2")
	if len(m.Snapshot.Pods) != 1 || m.Snapshot.Pods[0].Name != "web-x" || !m.At.Equal(time.Date(2026, 3, 1, 1, 1, 0, 0, time.UTC)) {
		t.Errorf("%d pods at %v", len(m.Snapshot.Pods), m.At)
	}
	if m.Plan.Target.UID != "w1" {
		t.Errorf("pinned to %q", m.Plan.Target.UID)
	}
}

func TestMake_ReportsErrors(t *testing.T) {
	old := file(t, web)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no such file":         {[]string{"--against", "/nonexistent.yaml", "--image", "a=b"}, "/nonexistent.yaml"},
		"no such container":    {[]string{"--against", old, "--image", "web=web:2"}, `--image: CloneSet web has no container "web"`},
		"another workload":     {[]string{"clone/api", "--against", old, "--image", "main=web:2"}, "holds no clone/api"},
		"steps that fall":      {[]string{"--against", old, "--image", "main=web:2", "--steps", "50%,10%"}, "--steps: "},
		"a pause without step": {[]string{"--against", old, "--image", "main=web:2", "--pause-after", "1"}, "--pause-after needs --steps"},
		"a pause nowhere":      {[]string{"--against", old, "--image", "main=web:2", "--steps", "1,100%", "--pause-after", "7"}, "--pause-after: "},
		"an unknown driver":    {[]string{"--against", old, "--image", "main=web:2", "--driver", "me"}, "--driver: "},
		"not allowed":          {[]string{"--against", old, "-f", file(t, strings.Replace(web, "app: web}}\n  up", "app: api}}\n  up", 1))}, "spec.selector"},
		"no cluster":           {[]string{"-f", old}, "cannot read cloneset/web: "},
	} {
		o, err := asked(t, c.args...)
		if err == nil {
			_, err = o.Make(context.Background())
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestPolicyFlags(t *testing.T) {
	o, err := asked(t, "--against", "x", "--image", "a=b", "--steps", "1,10%,100%", "--pause-after", "1,10%=5m", "--pause", "2m",
		"--verify-url", "https://example.com/healthz", "--verify-command", "true", "--driver", "client", "--drain", "none",
		"--pull-images", "never", "--on-failure", "rollback", "--step-timeout", "9m", "--grace", "3s")
	if err != nil {
		t.Fatal(err)
	}
	var got plan.Policy
	if err := o.policy.read(&got); err != nil {
		t.Fatal(err)
	}
	want := plan.Policy{
		Steps: []plan.PolicyStep{
			{To: plan.Pods(1), Pause: &plan.Pause{For: plan.Duration(2 * time.Minute)}}, {To: plan.Amount{Value: 10, Percent: true}, Pause: &plan.Pause{For: plan.Duration(5 * time.Minute)}}, {To: plan.All},
		},
		Verify: []plan.Verify{{URL: "https://example.com/healthz"}, {Command: []string{"sh", "-c", "true"}}},
		Driver: plan.DriverClient, Drain: plan.DrainNone, Pull: plan.PullNever, OnFailure: plan.FailRollback, Timeout: plan.Duration(9 * time.Minute), Grace: plan.Duration(3 * time.Second),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPolicyFlags_PauseIsAfterEveryStepButTheLast checks that the pause is after every step but the last.
func TestPolicyFlags_PauseIsAfterEveryStepButTheLast(t *testing.T) {
	o, _ := asked(t, "--against", "x", "--image", "a=b", "--steps", "1,50%,100%", "--pause", "1m")
	var p plan.Policy
	if err := o.policy.read(&p); err != nil || p.Steps[0].Pause == nil || p.Steps[1].Pause == nil || p.Steps[2].Pause != nil {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestSetImage(t *testing.T) {
	sidecars := "apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nmetadata: {name: m}\nspec: {containers: [{name: proxy, image: 'm:1'}], initContainers: [{name: init, image: 'i:1'}]}"
	for _, c := range []struct{ doc, container, main, side string }{
		{web, "main", "new", "side:1"},
		{web, "side", "web:1", "new"},
		{web, "*", "new", "new"},
		{sidecars, "proxy", "new", "i:1"},
		{sidecars, "init", "m:1", "new"},
		{sidecars, "*", "new", "i:1"},
	} {
		list, err := load.Parse("in.yaml", []byte(c.doc))
		if err != nil {
			t.Fatal(err)
		}
		r := resource.Parsed(tree.Clone(list[0].Node()), nil, list[0].Origin)
		if err := setImage(r, c.container, "new"); err != nil {
			t.Error(err)
		}
		spec := tree.Get(r.Node(), "spec", "template", "spec")
		if spec == nil {
			spec = tree.Get(r.Node(), "spec")
		}
		all := append(tree.Items(tree.Get(spec, "containers")), tree.Items(tree.Get(spec, "initContainers"))...)
		if got := [2]string{tree.StrAt(all[0], "image"), tree.StrAt(all[1], "image")}; got != [2]string{c.main, c.side} {
			t.Errorf("%s %s: %v", r.Kind(), c.container, got)
		}
	}
}
