package group_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/group"
)

func ref(name string) cluster.Ref {
	return cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: name}
}

// member is one of a wave, that takes a pod and depends on others.
func member(name string, wave int, dependsOn ...string) group.Member {
	m := group.Member{Ref: ref(name), Wave: wave, Takes: 1, Replicas: 4}
	for _, other := range dependsOn {
		m.DependsOn = append(m.DependsOn, ref(other))
	}
	return m
}

// TestCheck_RefusesInvalidGroups: a group that could not end is refused, and the error names the members.
func TestCheck_RefusesInvalidGroups(t *testing.T) {
	elsewhere := member("web", 0)
	elsewhere.Ref.Namespace = "other"
	elsewhere.DependsOn = []cluster.Ref{ref("a")}
	large := member("large", 0)
	large.Takes = 3
	for name, c := range map[string]struct {
		members []group.Member
		limits  group.Limits
		want    string
	}{
		"no dependencies": {members: []group.Member{member("a", 0), member("b", 1)}},
		"a chain":         {members: []group.Member{member("a", 0, "b"), member("b", 0, "c"), member("c", 0)}},
		"a diamond":       {members: []group.Member{member("a", 0, "b", "c"), member("b", 0, "d"), member("c", 0, "d"), member("d", 0)}},
		"itself":          {members: []group.Member{member("a", 0, "a")}, want: "these depend on each other: cloneset/a → cloneset/a"},
		"a circle": {
			members: []group.Member{member("x", 0, "a"), member("a", 0, "b"), member("b", 0, "c"), member("c", 0, "a")},
			want:    "these depend on each other: cloneset/a → cloneset/b → cloneset/c → cloneset/a",
		},
		"across namespaces": {members: []group.Member{member("a", 0, "a"), elsewhere}, want: "shop/cloneset/a → shop/cloneset/a"},
		"a later wave": {
			members: []group.Member{member("a", 0, "b"), member("b", 2)},
			want:    "cloneset/a in wave 0 depends on cloneset/b, which starts later, in wave 2",
		},
		"an earlier wave": {members: []group.Member{member("a", 0), member("b", 2, "a")}},
		"not a member":    {members: []group.Member{member("a", 0, "b")}, want: "cloneset/a depends on cloneset/b, which is not in the group"},
		"twice":           {members: []group.Member{member("a", 0), member("a", 1)}, want: "cloneset/a is there twice"},
		"too much for all": {
			members: []group.Member{member("a", 0), large}, limits: group.Limits{MaxUnavailable: 2},
			want: "the rollout of cloneset/large may make 3 pods unavailable at a time, and all rollouts together may make 2",
		},
		"a limit below 0": {members: []group.Member{member("a", 0)}, limits: group.Limits{Parallel: -1}, want: "a limit of the group is below 0"},
	} {
		t.Run(name, func(t *testing.T) {
			err := group.Group{Members: c.members, Limits: c.limits}.Check()
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestReverse_BeginsWithTheLastWave: the way back begins with the last wave, and with what depends on others.
func TestReverse_BeginsWithTheLastWave(t *testing.T) {
	g := group.Group{Members: []group.Member{member("db", 0), member("api", 1, "db"), member("web", 1, "db", "api")}}
	back := g.Reverse()
	if diff := cmp.Diff([][]int{{1, 2}, {0}}, back.Waves()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]cluster.Ref{ref("api"), ref("web")}, back.Members[0].DependsOn); diff != "" {
		t.Error(diff)
	}
	if err := back.Check(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(g.Members[2].DependsOn, back.Reverse().Members[2].DependsOn); diff != "" {
		t.Error(diff)
	}
}
