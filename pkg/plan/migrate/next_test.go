package migrate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func record(kind string, replicas, source, destination, surge int32) Record {
	group := "apps"
	if kind == "CloneSet" {
		group = "apps.kruise.io"
	}
	return Record{From: Workload{group, kind, "web"}, UID: "1", Replicas: replicas, Source: source, Destination: destination, Surge: surge}
}

// settled is a side at rest.
func settled(n int32) Side {
	return Side{UID: "1", Replicas: n, Exist: n, Available: n, Observed: true}
}

func TestNext_MovesBatchByBatch(t *testing.T) {
	late := func(s Side, available int32) Side { s.Available = available; return s }
	going := func(s Side, exist int32) Side { s.Exist = exist; return s }
	unseen := settled(4)
	unseen.Observed = false
	other := settled(4)
	other.UID = "2"
	web, db := record("Deployment", 4, 4, 0, 1), record("StatefulSet", 4, 4, 0, 1)
	back := Record{From: Workload{"apps.kruise.io", "StatefulSet", "db"}, UID: "1", Replicas: 3, Source: 3, Destination: 1, Surge: 2}
	for name, c := range map[string]struct {
		r    Record
		s, d Side
		want string
	}{
		"begins with one more":         {web, settled(4), settled(0), "grow 1"},
		"waits for it":                 {web, settled(4), late(settled(1), 0), "wait: 1 pod of the destination is not available"},
		"one goes for it":              {web, settled(4), settled(1), "shrink 3"},
		"the next":                     {web, settled(3), settled(1), "grow 2"},
		"the last goes":                {web, settled(1), settled(4), "shrink 0"},
		"waits until the last is gone": {web, going(settled(0), 1), settled(4), "wait: 1 pod of Deployment/web is going"},
		"done":                         {web, settled(0), settled(4), "done 0"},
		"nobody has seen it":           {web, unseen, settled(0), "wait: controllers have not seen the last change yet"},
		"another object":               {web, other, settled(0), "halt: Deployment/web is another object than the one replicas were moved from"},
		"the source was scaled":        {web, settled(5), settled(0), "halt: Deployment/web was scaled to 5"},
		"the destination was scaled":   {web, settled(4), settled(5), "halt: the destination was scaled to 5"},
		"in batches":                   {record("Deployment", 10, 10, 2, 4), settled(10), settled(2), "grow 6"},
		"those go that are replaced":   {record("Deployment", 10, 10, 2, 4), settled(10), late(settled(6), 5), "shrink 7"},
		"a part":                       {record("CloneSet", 3, 10, 2, 5), settled(7), settled(5), "done 0"},
		"an identity goes first":       {db, settled(4), settled(0), "shrink 3"},
		"and has to be gone":           {db, going(settled(3), 4), settled(0), "wait: 1 pod of StatefulSet/web is going"},
		"before it comes":              {db, settled(3), settled(0), "grow 1 reserve 3"},
		"and is waited for":            {db, settled(3), late(settled(1), 0), "wait: 1 pod of the destination is not available"},
		"then the next goes":           {db, settled(3), settled(1), "shrink 2"},
		"the last comes":               {db, settled(0), settled(3), "grow 4 reserve 0"},
		"all identities":               {db, settled(0), settled(4), "done 0"},
		"back, lowest first":           {back, settled(3), settled(1), "shrink 1 reserve 3"},
		"back, they come":              {back, settled(1), settled(1), "grow 3"},
		"back, the rest":               {back, settled(1), settled(3), "shrink 0 reserve 4"},
	} {
		if got := text(Next(c.r, c.s, c.d, nil)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func text(d Decision) string {
	if d.Verb == Wait || d.Verb == Halt {
		return string(d.Verb) + ": " + d.Why
	}
	s := fmt.Sprintf("%s %d", d.Verb, d.Replicas)
	if d.Reserve >= 0 {
		s += fmt.Sprintf(" reserve %d", d.Reserve)
	}
	return s
}

func TestNext_AsksBudgets(t *testing.T) {
	minimum := func(v string) policyv1.PodDisruptionBudgetSpec {
		n := intstr.Parse(v)
		return policyv1.PodDisruptionBudgetSpec{MinAvailable: &n}
	}
	maximum := func(v string) policyv1.PodDisruptionBudgetSpec {
		n := intstr.Parse(v)
		return policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &n}
	}
	for name, c := range map[string]struct {
		spec              policyv1.PodDisruptionBudgetSpec
		expected, healthy int32
		lasting           bool
		want              int32
	}{
		"none may be away, but there is one more": {maximum("0"), 5, 5, true, 2},
		"none may be away, and none is more":      {maximum("0"), 4, 4, false, 0},
		"one is away already":                     {maximum("0"), 5, 4, true, 0},
		"a number":                                {minimum("4"), 5, 5, true, 1},
		"a number that is not met":                {minimum("4"), 5, 3, true, 0},
		"percent of those who are left":           {minimum("100%"), 5, 5, true, 2},
		"percent of all":                          {minimum("75%"), 4, 4, false, 1},
		"nothing is asked for":                    {policyv1.PodDisruptionBudgetSpec{}, 4, 4, false, 2},
	} {
		b := Budget{Name: "web", Spec: c.spec, Expected: c.expected, Healthy: c.healthy}
		got, why := allowed([]Budget{b}, 2, c.lasting)
		if got != c.want || (why == "") != (got == 2) {
			t.Errorf("%s: %d, %q; want %d", name, got, why, c.want)
		}
	}
	if n, why := allowed([]Budget{{Name: "web", Stale: true}}, 1, true); n != 0 || !strings.Contains(why, "not up to date") {
		t.Errorf("%d, %q", n, why)
	}
}

// TestNext_NeverHasFewerPods walks migrations to their end: pods available are never fewer than
// before, never more than the surge allows, and what has no place beside comes after.
func TestNext_NeverHasFewerPods(t *testing.T) {
	for _, kind := range []string{"Deployment", "CloneSet", "StatefulSet"} {
		for surge := range int32(5) {
			for replicas := int32(1); replicas <= 6; replicas++ {
				r := record(kind, replicas, 6, 2, surge+1)
				walk(t, r)
			}
		}
	}
}

func walk(t *testing.T, r Record) {
	t.Helper()
	source, destination := settled(r.Source), settled(r.Destination)
	least, most := r.Source+r.Destination, r.Source+r.Destination+r.Surge
	if Of(r.From.Group, r.From.Kind).Keeps {
		least, most = least-r.Surge, least
	}
	for range 100 {
		d := Next(r, source, destination, nil)
		switch d.Verb {
		case Grow:
			destination = settled(d.Replicas)
		case Shrink:
			source = settled(d.Replicas)
		case Done:
			if source.Replicas != r.Source-r.Replicas || destination.Replicas != r.Destination+r.Replicas {
				t.Errorf("%+v ends at %d and %d", r, source.Replicas, destination.Replicas)
			}
			return
		default:
			t.Fatalf("%+v: %+v", r, d)
		}
		if sum := source.Replicas + destination.Replicas; sum < least || sum > most {
			t.Errorf("%+v: %d pods", r, sum)
		}
	}
	t.Errorf("%+v does not end", r)
}

// TestRecord_Back reverses a migration at any point: both workloads end as they began.
func TestRecord_Back(t *testing.T) {
	for _, kind := range []string{"Deployment", "StatefulSet"} {
		for turn := range 20 {
			r := record(kind, 4, 4, 1, 2)
			source, destination := settled(4), settled(1)
			for range turn {
				apply(Next(r, source, destination, nil), &source, &destination)
			}
			to := Workload{"apps.kruise.io", Of("apps", kind).Counterpart.Kind, "web"}
			back := r.Back(to, source, destination)
			if _, err := Decode(back.Encode()); err != nil {
				t.Errorf("%s, turned after %d: %v", kind, turn, err)
			}
			for range 20 {
				apply(Next(back, destination, source, nil), &destination, &source)
			}
			if d := Next(back, destination, source, nil); d.Verb != Done || source.Replicas != 4 || destination.Replicas != 1 {
				t.Errorf("%s, turned after %d: %d and %d, %+v", kind, turn, source.Replicas, destination.Replicas, d)
			}
		}
	}
}

func apply(d Decision, source, destination *Side) {
	switch d.Verb {
	case Grow:
		*destination = settled(d.Replicas)
	case Shrink:
		*source = settled(d.Replicas)
	}
}

func TestRecord_IsReadBackEqual(t *testing.T) {
	want := record("Deployment", 4, 4, 0, 1)
	got, err := Decode(want.Encode())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, text := range []string{"", "{", "[]", "{}", `{"from":{"kind":"Deployment","name":"web"},"replicas":2,"source":1,"surge":1}`} {
		if _, err := Decode(text); err == nil || !strings.Contains(err.Error(), Annotation) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestKindOf_Counterparts(t *testing.T) {
	for word, want := range map[string]string{
		"CloneSet": "CloneSet", "cloneset": "CloneSet", "clone": "CloneSet", "Deployment": "Deployment", "deploy": "Deployment",
		"AdvancedStatefulSet": "AdvancedStatefulSet", "statefulset": "StatefulSet", "statefulsets.apps.kruise.io": "AdvancedStatefulSet", "statefulset.apps": "StatefulSet",
		"pod": "", "cloneset.apps": "", "": "",
	} {
		got := ""
		if k := KindOf(word); k != nil {
			got = k.Word
			if k.Counterpart.Counterpart.Word != k.Word || Of(k.Group, k.Kind).Word != k.Word || k.Native() == k.Counterpart.Native() {
				t.Errorf("%s has no way back", word)
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if diff := cmp.Diff([]string{"Deployment", "CloneSet", "StatefulSet", "AdvancedStatefulSet", "DaemonSet", "AdvancedDaemonSet"}, Words()); diff != "" {
		t.Error(diff)
	}
}
