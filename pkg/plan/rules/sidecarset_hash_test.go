package rules

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestSidecarHash reads the annotation in every form that a pod may have it in;
// only the first is found without reading the JSON.
func TestSidecarHash(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		fast       bool
	}{
		"as Kruise writes it":       {`{"mesh":{"updateTimestamp":"2026-07-01T12:00:00Z","hash":"abc","sidecarSetName":"mesh"}}`, "abc", true},
		"beside another":            {`{"log":{"updateTimestamp":"x","hash":"one"},"mesh":{"updateTimestamp":"x","hash":"two"}}`, "two", true},
		"a longer name before it":   {`{"big-mesh":{"updateTimestamp":"x","hash":"one"},"mesh":{"updateTimestamp":"x","hash":"two"}}`, "two", true},
		"only a longer name":        {`{"big-mesh":{"updateTimestamp":"x","hash":"one"}}`, "", false},
		"other order":               {`{"mesh":{"hash":"abc","updateTimestamp":"x"}}`, "abc", false},
		"spaces":                    {`{"mesh": {"updateTimestamp": "x", "hash": "abc"}}`, "abc", false},
		"something between":         {`{"mesh":{"updateTimestamp":"x","a":"b","hash":"abc"}}`, "abc", false},
		"older form":                {`{"mesh":"abc"}`, "abc", false},
		"an escape in the hash":     {`{"mesh":{"updateTimestamp":"x","hash":"a\u0062c"}}`, "abc", false},
		"the name inside of a text": {`{"log":{"updateTimestamp":"x","hash":"one","note":"\"mesh\":{\"updateTimestamp\":\"x\",\"hash\":\"no\""}}`, "", false},
		"cut off":                   {`{"mesh":{"updateTimestamp":"x`, "", false},
		"cut off later":             {`{"mesh":{"updateTimestamp":"x","hash":"abc`, "", false},
		"no JSON":                   {`mesh`, "", false},
		"nothing":                   {``, "", false},
		"an entry of another kind":  {`{"mesh":5}`, "", false},
		"an entry without a time":   {`{"mesh":{"hash":"abc"}}`, "abc", false},
		"another set":               {`{"other":{"hash":"abc"}}`, "", false},
	} {
		p := &cluster.Pod{Annotations: map[string]string{kruise.SidecarSetHashAnnotation: c.text}}
		if got := sidecarHash(p, kruise.SidecarSetHashAnnotation, "mesh"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if _, fast := writtenHash(c.text, "mesh"); fast != c.fast {
			t.Errorf("%s: found without reading: %v", name, fast)
		}
	}
}

// TestSidecarSetBrief: what goes now is the same; only where nothing goes the
// order of the rest is left out.
func TestSidecarSetBrief(t *testing.T) {
	for _, c := range []struct{ spec, pods, want, order string }{
		{meshSpec, "4*o", "p4", "p4 p3 p2 p1"},
		{meshSpec, "3*o n!", "", ""},
		{meshSpec, "2*o o! n!", "p3", "p3 p2 p1"},
		{meshSpec + "updateStrategy: {partition: 3}", "3*o n", "", ""},
	} {
		s := sidecarSet(t, c.spec, c.pods)
		s.Brief = true
		got := s.ChooseUpdate()
		if names(got.Pods) != c.want || names(got.Order) != c.order || got.Why == "" {
			t.Errorf("%s %s: %q of %q (%s)", c.spec, c.pods, names(got.Pods), names(got.Order), got.Why)
		}
	}
}

// TestUpgradeLeavesOthers: the entries of other sets stay byte by byte.
func TestUpgradeLeavesOthers(t *testing.T) {
	s := sidecarSet(t, meshSpec, "o")
	const other = `"log":{"updateTimestamp":"x","hash":"one","sidecarSetName":"log","sidecarList":["a"],"controllerRevision":"r"}`
	p := s.Pods[0]
	p.Annotations[kruise.SidecarSetHashAnnotation] = `{` + other + `,` + p.Annotations[kruise.SidecarSetHashAnnotation][1:]
	patch, err := s.Upgrade(p, now)
	if err != nil {
		t.Fatal(err)
	}
	if got := patch.Annotations[kruise.SidecarSetHashAnnotation]; !strings.Contains(got, other) {
		t.Errorf("%s", got)
	}
	p.Annotations[kruise.SidecarSetHashAnnotation] = "null"
	if _, err := s.Upgrade(p, now); err != nil {
		t.Error(err)
	}
}
