package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func ref(name string) cluster.Ref {
	return cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: name}
}

// takes is the plan of a workload that may take so many of its pods down.
func takes(of cluster.Ref, pods int) plan.Plan {
	return plan.Plan{
		Target: plan.Target{APIVersion: of.Group + "/v1alpha1", Kind: of.Kind, Namespace: of.Namespace, Name: of.Name},
		Limits: plan.Limits{MaxUnavailable: pods, Replicas: 4},
	}
}

// member is one of a wave, that takes a pod and depends on others.
func member(name string, wave int, dependsOn ...string) plan.Member {
	m := plan.Member{Ref: ref(name), Wave: wave, Plan: takes(ref(name), 1)}
	for _, other := range dependsOn {
		m.DependsOn = append(m.DependsOn, ref(other))
	}
	return m
}

// TestCheck_RefusesInvalidGroups: a group that could not end is refused, and the error names the members.
func TestCheck_RefusesInvalidGroups(t *testing.T) {
	elsewhere := member("web", 0)
	elsewhere.Ref.Namespace = "other"
	elsewhere.Plan = takes(elsewhere.Ref, 1)
	elsewhere.DependsOn = []cluster.Ref{ref("a")}
	large := member("large", 0)
	large.Plan.Limits.MaxUnavailable = 3
	for name, c := range map[string]struct {
		members []plan.Member
		bounds  plan.Bounds
		want    string
	}{
		"no dependencies": {members: []plan.Member{member("a", 0), member("b", 1)}},
		"a chain":         {members: []plan.Member{member("a", 0, "b"), member("b", 0, "c"), member("c", 0)}},
		"a diamond":       {members: []plan.Member{member("a", 0, "b", "c"), member("b", 0, "d"), member("c", 0, "d"), member("d", 0)}},
		"itself":          {members: []plan.Member{member("a", 0, "a")}, want: "these depend on each other: cloneset/a → cloneset/a"},
		"a circle": {
			members: []plan.Member{member("x", 0, "a"), member("a", 0, "b"), member("b", 0, "c"), member("c", 0, "a")},
			want:    "these depend on each other: cloneset/a → cloneset/b → cloneset/c → cloneset/a",
		},
		"across namespaces": {members: []plan.Member{member("a", 0, "a"), elsewhere}, want: "shop/cloneset/a → shop/cloneset/a"},
		"a later wave": {
			members: []plan.Member{member("a", 0, "b"), member("b", 2)},
			want:    "cloneset/a in wave 0 depends on cloneset/b, which starts later, in wave 2",
		},
		"an earlier wave": {members: []plan.Member{member("a", 0), member("b", 2, "a")}},
		"not a member":    {members: []plan.Member{member("a", 0, "b")}, want: "cloneset/a depends on cloneset/b, which is not in the group"},
		"twice":           {members: []plan.Member{member("a", 0), member("a", 1)}, want: "cloneset/a is there twice"},
		"too much for all": {
			members: []plan.Member{member("a", 0), large}, bounds: plan.Bounds{MaxUnavailable: 2},
			want: "the rollout of cloneset/large may make 3 pods unavailable at a time, and all rollouts together may make 2",
		},
		"a limit below 0": {members: []plan.Member{member("a", 0)}, bounds: plan.Bounds{Parallel: -1}, want: "a limit of the group is below 0"},
	} {
		t.Run(name, func(t *testing.T) {
			err := (&plan.Rollout{Members: c.members, Bounds: c.bounds}).Check()
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestInEffect_BeginsWithTheLastWave: a rollback begins with the last wave, and with what depends on others.
func TestInEffect_BeginsWithTheLastWave(t *testing.T) {
	r := plan.Rollout{Members: []plan.Member{member("db", 0), member("api", 1, "db"), member("web", 1, "db", "api")}, Aborted: "by me", Back: true}
	back := r.InEffect()
	if diff := cmp.Diff([][]int{{1, 2}, {0}}, back.Waves()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]cluster.Ref{ref("api"), ref("web")}, back.Members[0].DependsOn); diff != "" {
		t.Error(diff)
	}
	if err := back.Check(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(r.Members[2].DependsOn, back.InEffect().Members[2].DependsOn); diff != "" {
		t.Error(diff)
	}
	if back.Aborted != "" || back.Bounds.MaxFailures != 3 {
		t.Errorf("the abort, or a failure, stops the rollback: %q, %d", back.Aborted, back.Bounds.MaxFailures)
	}
}
