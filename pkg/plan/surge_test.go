package plan_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// claimOfClones is a claim template of a CloneSet.
const claimOfClones = "  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]\n"

// outcome is a plan with the pods that a run of it changes.
func outcome(t *testing.T, next string, s plan.Snapshot, policy plan.Policy) plan.Plan {
	t.Helper()
	p, _, err := simulate.Build(read(t, next), s, policy, simulate.Options{Gates: s.Gates})
	if _, unfinished := errors.AsType[*simulate.UnfinishedError](err); err != nil && !unfinished {
		t.Fatal(err)
	}
	return p
}

func TestBuild_CountsPodsThatSurgePodsReplace(t *testing.T) {
	old := clones(", maxSurge: 3") + claimOfClones
	next := strings.ReplaceAll(old, "web:1", newer)
	for name, c := range map[string]struct {
		steps, want, not string
		recreated        int
	}{
		"one step":   {"100%", "3 of 10 pods are recreated although the change is possible in place: with maxSurge 3 new pods take the place of old ones, which are deleted with 3 claims (data); with maxSurge 0 none is", "--steps", 3},
		"three":      {"1,50%,100%", "one step (--steps 100%) recreates 3", "", 7},
		"every stop": {"2,4,6,8,100%", "10 of 10 pods are recreated", "", 10},
	} {
		t.Run(name, func(t *testing.T) {
			p := outcome(t, next, snapshot(t, old, 10), plan.Policy{Steps: must(plan.ParseSteps(c.steps))})
			warnings := strings.Join(p.Warnings, "\n")
			if recreated, kept := p.Counts(); recreated != c.recreated || recreated+kept != 10 {
				t.Errorf("%d recreated, %d kept", recreated, kept)
			}
			if !strings.Contains(warnings, c.want) || c.not != "" && strings.Contains(warnings, c.not) {
				t.Errorf("warnings %q", warnings)
			}
			if why := fmt.Sprintf("but %d of 10 pods are recreated", c.recreated); !strings.Contains(p.Reason(), why) {
				t.Errorf("reason %q, want %q", p.Reason(), why)
			}
		})
	}
}

// applied is what one write of an object does to n pods of the state before.
func applied(t *testing.T, old, next string, n int) plan.Surge {
	t.Helper()
	line, err := simulate.Applied(read(t, next), plan.Snapshot{Workload: plan.WithPods(read(t, old), n), Gates: cluster.DefaultGates()})
	if err != nil {
		t.Fatal(err)
	}
	return plan.SurgeOf(read(t, next), line.Touches)
}

// TestSurgeOf_EqualsThePlan: what one write does is what a plan with one step does.
func TestSurgeOf_EqualsThePlan(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	replaced := 0
	for range 150 {
		n := 1 + random.IntN(12)
		spec := fmt.Sprintf(", maxSurge: %s, maxUnavailable: %d, partition: %d", []string{"1", "2", "30%", "100%"}[random.IntN(4)], 1+random.IntN(3), random.IntN(n))
		old := strings.Replace(clones(spec), "replicas: 10", fmt.Sprint("replicas: ", n), 1)
		next := strings.ReplaceAll(old, "web:1", newer)
		told := applied(t, old, next, n)
		p := outcome(t, next, snapshot(t, old, n), plan.Policy{Steps: []plan.PolicyStep{{To: plan.Pods(told.Pods)}}})
		if recreated, kept := p.Counts(); told.Recreated != recreated || told.Pods != recreated+kept {
			t.Errorf("%d pods%s: told %d of %d, planned %d of %d", n, spec, told.Recreated, told.Pods, recreated, recreated+kept)
		}
		replaced += told.Recreated
	}
	if replaced == 0 {
		t.Error("no pod was replaced: the test tries nothing")
	}
}

func TestSurgeOf_NoneWhereNoneIsReplaced(t *testing.T) {
	old := clones(", maxSurge: 3")
	for name, next := range map[string]string{
		"no surge":  strings.ReplaceAll(clones(""), "web:1", newer),
		"paused":    strings.ReplaceAll(clones(", maxSurge: 3, paused: true"), "web:1", newer),
		"unchanged": old,
	} {
		if got := applied(t, old, next, 10); got.Recreated != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestBuild_RefusesNewClaimTemplates(t *testing.T) {
	const claims = "  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]\n"
	for _, api := range []string{beta, "apps/v1"} {
		old := manifest(api, "StatefulSet", plain+"  replicas: 3\n  serviceName: web\n")
		_, err := plan.Build(read(t, old+claims), snapshot(t, old, 3), plan.Policy{})
		if err == nil || !strings.Contains(err.Error(), "spec.volumeClaimTemplates: ") {
			t.Errorf("%s: %v", api, err)
		}
		empty := strings.Replace(old, "replicas: 3", "replicas: 0", 1)
		if _, err = plan.Build(read(t, old+claims), snapshot(t, empty, 0), plan.Policy{}); (err == nil) != (api == beta) {
			t.Errorf("%s without pods: %v", api, err)
		}
	}
}
