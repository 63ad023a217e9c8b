package runner

import (
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

var web = Spec{
	Image: "registry.example.com/kubectl-kruise:v9", Namespace: Namespace, Account: ServiceAccount, Type: "cloneset.apps.kruise.io",
	Workload: cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "web"},
	Digest:   "sha256:0123456789abcdef0123456789abcdef", BackTo: "aaaa", Deadline: 90 * time.Minute,
}

// TestJob_HoldsWhatTheAPIServerDoesNotCheck: what the API server does not check. TestDetached_RunsByItsManifest (test/e2e/rollout) has one
// check the rest.
func TestJob_HoldsWhatTheAPIServerDoesNotCheck(t *testing.T) {
	j := Job(web)
	pod := j.Spec.Template.Spec
	want := []string{"rollout", "drive", "cloneset.apps.kruise.io/web", "--namespace=shop", "--approved=" + web.Digest, "--back-to=aaaa"}
	if got := pod.Containers[0].Args; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if pod.NodeSelector != nil || pod.Affinity != nil || pod.Tolerations != nil || pod.PriorityClassName != "" || pod.TopologySpreadConstraints != nil {
		t.Error("it has rules about nodes")
	}
	if *j.Spec.ActiveDeadlineSeconds != 5400 || j.GenerateName != "rollout-web-" || j.Name != "" || *j.Spec.TTLSecondsAfterFinished == 0 {
		t.Errorf("%+v", j.Spec)
	}
	if rule := j.Spec.PodFailurePolicy.Rules[0]; rule.Action != batchv1.PodFailurePolicyActionFailJob || !slices.Contains(rule.OnExitCodes.Values, 3) {
		t.Errorf("a rollout that failed is not tried again: %+v", rule)
	}
	for _, v := range pod.Volumes {
		if v.Secret != nil || v.HostPath != nil {
			t.Errorf("volume %s", v.Name)
		}
	}
}

// TestJob_WithItsPlan: it can be kept in Git, so it has a fixed name and no time to live.
func TestJob_WithItsPlan(t *testing.T) {
	s := web
	s.Plan, s.Listen, s.NotifySecret = []byte("kind: RolloutPlan\n"), "127.0.0.1:8080", "hooks"
	s.Workload.Name = strings.Repeat("long.name", 9)
	j, m := Job(s), PlanMap(s)
	c := j.Spec.Template.Spec.Containers[0]
	if j.Name != m.Name || len(j.Name) > 63 || !strings.HasSuffix(j.Name, "-0123456789") || j.Spec.TTLSecondsAfterFinished != nil || !*m.Immutable {
		t.Errorf("%+v", j.ObjectMeta)
	}
	if !slices.Contains(c.Args, "--plan=/etc/kubectl-kruise/plan.yaml") || c.Ports[0].ContainerPort != 8080 {
		t.Errorf("%+v", c)
	}
	last := c.Env[len(c.Env)-1]
	if last.Name != SecretVariable || last.Value != "" || last.ValueFrom.SecretKeyRef.Name != "hooks" {
		t.Errorf("%+v", last)
	}
}

// TestJob_OfGroup: it carries the group out by its name, and is found by it.
func TestJob_OfGroup(t *testing.T) {
	s := web
	s.Workload, s.Type, s.BackTo = GroupRef("shop", "all"), "", ""
	j := Job(s)
	want := []string{"rollout", "drive", "--group=all", "--namespace=shop", "--approved=" + web.Digest}
	if got := j.Spec.Template.Spec.Containers[0].Args; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	selector, err := labels.Parse(Selector(GroupRef("shop", "all")))
	if err != nil {
		t.Fatal(err)
	}
	if !selector.Matches(labels.Set(j.Spec.Template.Labels)) || selector.Matches(labels.Set(Job(web).Labels)) {
		t.Errorf("%s, and the Job has %v", selector, j.Spec.Template.Labels)
	}
}

// TestDeadline_OfAGroupAddsUp: the plans may follow one after the other, and one without a limit leaves
// the whole without.
func TestDeadline_OfAGroupAddsUp(t *testing.T) {
	bounded := plan.Plan{Steps: []plan.Step{{Timeout: plan.Duration(10 * time.Minute)}, {Pause: &plan.Pause{For: plan.Duration(5 * time.Minute)}}}}
	waits := plan.Plan{Steps: []plan.Step{{Timeout: plan.Duration(time.Minute)}, {Pause: &plan.Pause{}}}}
	if got, want := Deadline([]plan.Plan{bounded, bounded}), 2*time.Hour; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := Deadline([]plan.Plan{bounded, waits}); got != 0 {
		t.Errorf("a user has to promote, and the Job has %s", got)
	}
}

func TestImage(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3": "ghcr.io/kubectl-kruise/kubectl-kruise:v1.2.3", "1.2.3": "ghcr.io/kubectl-kruise/kubectl-kruise:v1.2.3",
		"(devel)": "", "": "", "v0.0.0-20260101000000-abcdef123456": "", "v1.2.3+dirty": "",
	} {
		if got := Image(version); got != want {
			t.Errorf("%q: %q", version, got)
		}
	}
}

func TestDeadline(t *testing.T) {
	step := func(limit time.Duration, pause *plan.Pause) plan.Step {
		return plan.Step{Timeout: plan.Duration(limit), Pause: pause}
	}
	for name, c := range map[string]struct {
		steps []plan.Step
		want  time.Duration
	}{
		"steps":          {[]plan.Step{step(time.Minute, nil), step(0, &plan.Pause{For: plan.Duration(time.Hour)})}, 3*time.Hour + 2*time.Minute},
		"a person":       {[]plan.Step{step(time.Minute, nil), step(0, &plan.Pause{})}, 0},
		"no limit known": {[]plan.Step{step(0, nil)}, 0},
	} {
		if got := Deadline([]plan.Plan{{Steps: c.steps}}); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
