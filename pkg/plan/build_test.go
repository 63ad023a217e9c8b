package plan_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// clones is a CloneSet of ten pods, in place unless a spec says otherwise.
func clones(spec string) string {
	return manifest(beta, "CloneSet", plain+"  replicas: 10\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible"+spec+"}}\n")
}

// pods are n ready pods of a revision, the first became ready first.
func pods(n int, revision string) []*cluster.Pod {
	var out []*cluster.Pod
	for i := range n {
		p := cluster.ReadPod(onePod(i, n))
		p.Labels["controller-revision-hash"] = "web-" + revision
		out = append(out, p)
	}
	return out
}

// snapshot is a workload with its pods, all of the revision old.
func snapshot(tb testing.TB, text string, n int) plan.Snapshot {
	tb.Helper()
	w := read(tb, text)
	return plan.Snapshot{
		Workload: w, Pods: pods(n, "old"), Gates: cluster.DefaultGates(),
		Revisions: []cluster.Revision{{Name: "web-old", Number: 1, Template: w.Template}},
	}
}

// outline is one line per step: name, updated/kept, pods.
func outline(p plan.Plan) string {
	var out []string
	for _, s := range p.Steps {
		out = append(out, fmt.Sprintf("%s %d/%d:%d", s.Name, s.Updated, s.Kept, len(s.Pods)))
	}
	return strings.Join(out, ", ")
}

func TestBuild_StepsFollowThePolicy(t *testing.T) {
	old := clones("")
	next := strings.ReplaceAll(old, "web:1", newer)
	for name, c := range map[string]struct {
		next   string
		policy plan.Policy
		want   string
	}{
		"default":       {next, plan.Policy{}, "pull 0/10:0, update 1/9:1, step-50% 5/5:4, step-100% 10/0:5"},
		"never pulled":  {next, plan.Policy{Pull: plan.PullNever}, "update 1/9:1, step-50% 5/5:4, step-100% 10/0:5"},
		"given":         {next, plan.Policy{Steps: must(plan.ParseSteps("2,30%,100%")), Pull: plan.PullNever}, "update 2/8:2, step-30% 3/7:1, step-100% 10/0:7"},
		"ends early":    {next, plan.Policy{Steps: must(plan.ParseSteps("2,3")), Pull: plan.PullNever}, "update 2/8:2, step-3 3/7:1"},
		"own partition": {strings.Replace(next, "InPlaceIfPossible", "InPlaceIfPossible, partition: 40%", 1), plan.Policy{Pull: plan.PullNever}, "update 1/9:1, step-50% 5/5:4, step-6 6/4:1"},
		"all held":      {strings.Replace(next, "InPlaceIfPossible", "InPlaceIfPossible, partition: 100%", 1), plan.Policy{}, "update 0/10:0"},
		"no pods left":  {strings.Replace(next, "replicas: 10", "replicas: 0", 1), plan.Policy{}, "update 0/0:10"},
		"held, pulled":  {strings.Replace(next, "InPlaceIfPossible", "InPlaceIfPossible, partition: 100%", 1), plan.Policy{Pull: plan.PullFirst}, "pull 0/10:0, update 0/10:0"},
		"recreated":     {strings.Replace(next, `"web:2"`, `"web:2", env: [{name: A, value: b}]`, 1), plan.Policy{}, "update 1/9:1, step-50% 5/5:4, step-100% 10/0:5"},
		"pull anyway":   {strings.Replace(next, `"web:2"`, `"web:2", env: [{name: A, value: b}]`, 1), plan.Policy{Pull: plan.PullFirst}, "pull 0/10:0, update 1/9:1, step-50% 5/5:4, step-100% 10/0:5"},
		"limits only":   {strings.Replace(old, "InPlaceIfPossible", "InPlaceIfPossible, maxUnavailable: 3", 1), plan.Policy{}, "update 10/0:0"},
		"nothing":       {old, plan.Policy{}, ""},
		"grows":         {strings.Replace(next, "replicas: 10", "replicas: 12", 1), plan.Policy{Pull: plan.PullNever}, "update 1/11:0, step-50% 6/6:4, step-100% 12/0:6"},
		"shrinks":       {strings.Replace(next, "replicas: 10", "replicas: 4", 1), plan.Policy{Pull: plan.PullNever}, "update 1/3:7, step-100% 4/0:3"},
		"only scaled":   {strings.Replace(old, "replicas: 10", "replicas: 4", 1), plan.Policy{}, "update 4/0:6"},
	} {
		t.Run(name, func(t *testing.T) {
			p := outcome(t, c.next, snapshot(t, old, 10), c.policy)
			if got := outline(p); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			if c.want == "" && !strings.HasPrefix(p.Change.Why, "nothing to do") {
				t.Error(p.Change.Why)
			}
		})
	}
}

// TestBuild_AddsPullVerifyAndPause: questions and pauses follow the step that they belong to; the
// last step is not paused after.
func TestBuild_AddsPullVerifyAndPause(t *testing.T) {
	old := clones("")
	policy := plan.Policy{
		Steps: must(plan.ParseSteps("1,50%,100%")), Pull: plan.PullNever, Verify: []plan.Verify{{URL: "http://web"}},
		Timeout: plan.Duration(time.Minute), OnFailure: plan.FailRollback,
	}
	if err := policy.PauseAfter("all"); err != nil {
		t.Fatal(err)
	}
	policy.Steps[1].Verify = []plan.Verify{{Command: []string{"smoke"}}}
	policy.Steps[2].Pause = &plan.Pause{}
	p, err := plan.Build(read(t, strings.ReplaceAll(old, "web:1", newer)), snapshot(t, old, 10), policy)
	if err != nil {
		t.Fatal(err)
	}
	want := "update 1/9:1, verify-1 1/9:0, pause-1 1/9:0, step-50% 5/5:4, verify-50%-1 5/5:0, verify-50%-2 5/5:0, pause-50% 5/5:0, step-100% 10/0:5, verify-100% 10/0:0"
	if got := outline(p); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, s := range p.Steps {
		if s.OnFailure != plan.FailRollback || (s.Timeout != plan.Duration(time.Minute)) != (s.Kind == plan.StepPause) {
			t.Errorf("%s: %s, %s", s.Name, s.OnFailure, s.Timeout)
		}
	}
}

// TestBuild_ContinuesAPartialUpdate: the template is there already, half of the pods carry
// it, and the partition holds the rest back.
func TestBuild_ContinuesAPartialUpdate(t *testing.T) {
	now := strings.ReplaceAll(clones(", partition: 5"), "web:1", newer)
	s := snapshot(t, now, 10)
	s.Revisions = append(s.Revisions, cluster.Revision{Name: "web-older", Number: 0, Template: read(t, clones("")).Template})
	for i := range 5 {
		s.Pods[i].Labels["controller-revision-hash"] = "web-older"
	}
	p, err := plan.Build(read(t, strings.ReplaceAll(clones(""), "web:1", newer)), s, plan.Policy{Steps: must(plan.ParseSteps("1,7,100%"))})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := outline(p), "pull 5/5:0, step-7 7/3:2, step-100% 10/0:3"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, s := range p.Steps {
		for _, pod := range s.Pods {
			if pod.Mode != rules.ModeInPlace {
				t.Errorf("%s is %s", pod.Name, pod.Mode)
			}
		}
	}
	described, err := must(planfile.Read(must(planfile.Write(p)))).WithDescription(s)
	if err != nil || len(described.Change.Fields) != 1 || described.Change.FromRevision != "web-older" {
		t.Errorf("read from its file it is described as %+v, %v", described.Change, err)
	}
	p.Change.Fields = nil
	if _, err := p.WithDescription(s); err == nil || !strings.Contains(err.Error(), "spec.containers[0].image") {
		t.Errorf("without its fields: %v", err)
	}
}

// TestBuild_RollsBackUpdatedPodsOnly: to the older of two templates, whose pods have nothing to do.
func TestBuild_RollsBackUpdatedPodsOnly(t *testing.T) {
	now := strings.ReplaceAll(clones(", partition: 6"), "web:1", newer)
	s := snapshot(t, now, 10)
	s.Revisions = append(s.Revisions, cluster.Revision{Name: "web-older", Number: 0, Template: read(t, clones("")).Template})
	for i := range 6 {
		s.Pods[i].Labels["controller-revision-hash"] = "web-older"
	}
	p, err := plan.Build(read(t, clones("")), s, plan.Policy{Steps: []plan.PolicyStep{{To: plan.All}}, Pull: plan.PullNever})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := outline(p), "update 10/0:4"; got != want || p.Change.ToRevision != "web-older" {
		t.Errorf("%s to %s\nwant %s", got, p.Change.ToRevision, want)
	}
}

// TestBuild_StepsNamePodsInOrder: the order of the rules, with mode, ties and reason.
func TestBuild_StepsNamePodsInOrder(t *testing.T) {
	old := clones(", priorityStrategy: {weightPriority: [{weight: 90, matchSelector: {matchLabels: {vip: y}}}]}")
	s := snapshot(t, old, 10)
	s.Pods[3].Labels["vip"] = "y"
	s.Pods[7].Labels["controller-revision-hash"] = "web-lost"
	p, err := plan.Build(read(t, strings.ReplaceAll(old, "web:1", newer)), s, plan.Policy{Pull: plan.PullNever, Steps: must(plan.ParseSteps("2,100%"))})
	if err != nil {
		t.Fatal(err)
	}
	first := p.Steps[0].Pods
	if first[0].Name != s.Pods[3].Name || first[0].Why != "priority weight 90" || first[1].Why != "priority weight 0" || first[0].Tie != 0 {
		t.Errorf("%+v", first)
	}
	i := slices.IndexFunc(p.Steps[1].Pods, func(x plan.PodStep) bool { return x.Name == s.Pods[7].Name })
	if lost := p.Steps[1].Pods[i]; lost.Mode != rules.ModeRecreate || !strings.Contains(lost.Why, "revision web-lost") {
		t.Errorf("%+v", lost)
	}
	seen := map[string]bool{}
	for _, st := range p.Steps {
		for _, pod := range st.Pods {
			seen[pod.UID] = true
		}
	}
	if len(seen) != 10 {
		t.Errorf("%d pods are named", len(seen))
	}
}

// TestBuild_StepsHaveConditions: what must hold before and after each step.
func TestBuild_StepsHaveConditions(t *testing.T) {
	old := strings.Replace(clones(""), "metadata: {name: web", "metadata: {uid: u1, name: web", 1)
	p, err := plan.Build(read(t, strings.ReplaceAll(old, "web:1", newer)), snapshot(t, old, 10), plan.Policy{Pull: plan.PullNever})
	if err != nil {
		t.Fatal(err)
	}
	text := func(list []plan.Condition) string {
		s := fmt.Sprint(list)
		s = strings.ReplaceAll(s, p.Change.FromHash, "FROM")
		return strings.ReplaceAll(s, p.Change.ToHash, "TO")
	}
	for i, want := range [][2]string{
		{"[{uid u1} {template FROM} {partition 0}]", "[{template TO} {partition 9} {paused false} {updatedAvailable 1} {settled }]"},
		{"[{uid u1} {template TO} {partition 9}]", "[{template TO} {partition 50%} {paused false} {updatedAvailable 5} {settled }]"},
		{"[{uid u1} {template TO} {partition 50%}]", "[{template TO} {partition 0} {paused false} {updatedAvailable 10} {settled } {complete }]"},
	} {
		if got := [2]string{text(p.Steps[i].Before), text(p.Steps[i].After)}; got != want {
			t.Errorf("%s: %s\nwant %s", p.Steps[i].Name, got, want)
		}
	}
}

func TestBuild_RefusesInvalidRequests(t *testing.T) {
	old := clones("")
	for name, c := range map[string]struct {
		next   string
		spoil  func(*plan.Snapshot)
		policy plan.Policy
		msg    string
	}{
		"another name":     {strings.Replace(old, "name: web,", "name: web2,", 1), nil, plan.Policy{}, "CloneSet shop/web cannot become CloneSet shop/web2"},
		"another selector": {strings.Replace(old, "matchLabels: {app: web}", "matchLabels: {app: x}", 1), nil, plan.Policy{}, "spec.selector: the selector of CloneSet shop/web cannot change"},
		"nothing there":    {old, func(s *plan.Snapshot) { s.Workload = nil }, plan.Policy{}, "there is nothing to compare with"},
		"another uid": {
			strings.Replace(old, "{name: web,", "{uid: u1, name: web,", 1), func(s *plan.Snapshot) { s.Workload.UID = "u2" },
			plan.Policy{},
			"metadata.uid: CloneSet shop/web was deleted and created again: uid u2, not u1",
		},
		"a Rollout owns it": {
			old, func(s *plan.Snapshot) {
				s.Workload.Annotations = map[string]string{"rollouts.kruise.io/in-progressing": "{}"}
			},
			plan.Policy{},
			"CloneSet shop/web is controlled by a Kruise Rollout (annotation rollouts.kruise.io/in-progressing)",
		},
		"steps fall":   {old, nil, plan.Policy{Steps: []plan.PolicyStep{{To: plan.Pods(5)}, {To: plan.Pods(3)}}}, `step "3" is not larger than the one before`},
		"wrong driver": {old, nil, plan.Policy{Driver: plan.DriverClient}, "driver: CloneSet shop/web cannot be rolled out by the driver client"},
	} {
		s := snapshot(t, old, 10)
		if c.spoil != nil {
			c.spoil(&s)
		}
		_, err := plan.Build(read(t, c.next), s, c.policy)
		var e *tree.Error
		if !errors.As(err, &e) || err.Error() != c.msg || e.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBuild_WarnsReviewers(t *testing.T) {
	old := clones("")
	next := strings.ReplaceAll(old, "web:1", newer)
	for name, c := range map[string]struct {
		old, next string
		spoil     func(*plan.Snapshot)
		want      string
	}{
		"none":        {old, next, nil, ""},
		"not ready":   {old, next, func(s *plan.Snapshot) { unready(s.Pods[:4]) }, "4 pods are not ready before the rollout: web-00000, web-00001, web-00002 and 1 more"},
		"one is not":  {old, next, func(s *plan.Snapshot) { unready(s.Pods[:1]) }, "1 pod is not ready before the rollout: web-00000"},
		"no gate":     {old, next, func(s *plan.Snapshot) { s.Pods[0].ReadinessGates = nil }, "1 pod has no readiness gate InPlaceUpdateReady: it stays in service while its containers restart"},
		"partial":     {old, strings.Replace(next, "InPlaceIfPossible", "InPlaceIfPossible, partition: 4", 1), nil, "the plan ends with 6 of 10 pods updated"},
		"paused":      {old, strings.Replace(next, "InPlaceIfPossible", "InPlaceIfPossible, paused: true", 1), nil, "the workload is paused: no pod is updated until it is resumed"},
		"in place no": {strings.ReplaceAll(old, "IfPossible", "Only"), strings.Replace(strings.ReplaceAll(next, "IfPossible", "Only"), `"web:2"`, `"web:2", env: [{name: A}]`, 1), nil, "admission accepts it in v1beta1, but then no pod changes and no event explains why"},
		"budget none": {old, next, func(s *plan.Snapshot) { budget(s, 0) }, "PodUnavailableBudget web never allows a pod to go: it wants 10 of 10 available"},
		"budget used": {old, next, func(s *plan.Snapshot) { budget(s, 20); unready(s.Pods[:3]) }, "PodUnavailableBudget web allows no pod to go now: 7 are available, 8 are wanted"},
		"budget slow": {old, next, func(s *plan.Snapshot) { budget(s, 10) }, "PodUnavailableBudget web allows 1 unavailable pod, fewer than maxUnavailable 2: it sets the pace"},
		"budget wide": {old, next, func(s *plan.Snapshot) { budget(s, 50) }, ""},
	} {
		s := snapshot(t, c.old, 10)
		if c.spoil != nil {
			c.spoil(&s)
		}
		p, err := plan.Build(read(t, c.next), s, plan.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.Warnings, "\n"); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

// TestBuild_WarnsOfDecreasingSteps are left out, with a word.
func TestBuild_WarnsOfDecreasingSteps(t *testing.T) {
	old := clones("")
	policy := plan.Policy{Pull: plan.PullNever, Steps: []plan.PolicyStep{{To: plan.Amount{Value: 50, Percent: true}}, {To: plan.Pods(3)}, {To: plan.All}}}
	p, err := plan.Build(read(t, strings.ReplaceAll(old, "web:1", newer)), snapshot(t, old, 10), policy)
	if err != nil {
		t.Fatal(err)
	}
	if got := outline(p); got != "update 5/5:5, step-100% 10/0:5" || len(p.Warnings) != 1 || !strings.HasPrefix(p.Warnings[0], "step 3 comes to fewer") {
		t.Errorf("%s, %s", got, p.Warnings)
	}
}

func unready(list []*cluster.Pod) {
	for _, p := range list {
		p.Conditions = nil
	}
}

func budget(s *plan.Snapshot, most int) {
	v := percent(most)
	s.Gates.GuardUpdates = true
	s.Budgets = []*rules.Budget{{Name: "web", Spec: &kruise.PodUnavailableBudgetSpec{MaxUnavailable: &v}, Expected: len(s.Pods), Pods: s.Pods}}
}

// begun is a StatefulSet of five pods in the middle of an update under partition 2:
// the lower two carry the template of before, which is returned.
func begun(t *testing.T, api, rolling string) (plan.Snapshot, string) {
	t.Helper()
	before := manifest(api, "StatefulSet", plain+"  replicas: 5\n  podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {partition: 2"+rolling+"}}\n")
	s := snapshot(t, strings.ReplaceAll(before, "web:1", newer), 5)
	s.Revisions = append(s.Revisions, cluster.Revision{Name: "web-older", Number: 0, Template: read(t, before).Template})
	for i, p := range s.Pods {
		p.Name = fmt.Sprintf("web-%d", i)
		if i < 2 {
			p.Labels["controller-revision-hash"] = "web-older"
		}
	}
	return s, before
}

// TestUndo_UnderPartition: in order, the top ordinals go back under the same partition,
// and those below it are there already; without order, so many pods as the partition
// lets follow are enough, whichever they are (docs/kruise/workloads.md#kubectl-operations).
func TestUndo_UnderPartition(t *testing.T) {
	for _, c := range []struct{ name, api, rolling, steps, want, partitions string }{
		{"as it comes", beta, "", "", "update 3/2:1, step-100% 5/0:2", "4 2"},
		{"at once", beta, "", "100%", "update 5/0:3", "2"},
		{"in steps", beta, "", "3,4,100%", "update 3/2:1, step-4 4/1:1, step-100% 5/0:1", "4 3 2"},
		{"native", "apps/v1", "", "4,100%", "update 4/1:2, step-100% 5/0:1", "3 2"},
		{"unordered", beta, ", unorderedUpdate: {}", "", "update 3/2:1", "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, before := begun(t, c.api, c.rolling)
			policy := plan.Policy{Pull: plan.PullNever}
			if c.steps != "" {
				policy.Steps = must(plan.ParseSteps(c.steps))
			}
			p, err := plan.Build(read(t, before), s, policy)
			if err != nil {
				t.Fatal(err)
			}
			var partitions []string
			for _, step := range p.Steps {
				for _, after := range step.After {
					if after.Type == plan.HoldsPartition {
						partitions = append(partitions, after.Value)
					}
				}
			}
			if got := outline(p); got != c.want || strings.Join(partitions, " ") != c.partitions {
				t.Errorf("%s with partitions %s, want %s with %s", got, partitions, c.want, c.partitions)
			}
		})
	}
}

// TestBuild_PausedWorkload: a plan for a paused workload has a warning about it.
func TestBuild_PausedWorkload(t *testing.T) {
	paused := clones(", paused: true")
	p, err := plan.Build(read(t, strings.ReplaceAll(paused, "web:1", "web:2")), plan.Snapshot{Workload: read(t, paused), Pods: pods(10, "a")}, plan.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(p.Warnings, "\n"); !p.Paused || !strings.Contains(text, "CloneSet shop/web is paused") {
		t.Errorf("paused %t, warnings: %s", p.Paused, text)
	}
}
