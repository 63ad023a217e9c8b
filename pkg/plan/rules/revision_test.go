package rules

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func stored(t *testing.T) []cluster.Revision {
	t.Helper()
	var out []cluster.Revision
	for i, image := range []string{"web:1", "web:2", "web:3"} {
		out = append(out, cluster.Revision{
			Name: "web-" + itoa(i+1), Number: int64(i + 1),
			Template: template(t, strings.Replace(baseTemplate, "web:1", image, 1)),
		})
	}
	return out
}

func TestFindRevision(t *testing.T) {
	list := stored(t)
	for _, c := range []struct{ name, from, to, want string }{
		{"the first", "", "", "web-1"},
		{"the third", "web:1", "web:3", "web-3"},
		{"a new image", "web:1", "web:4", ""},
		{"a label makes a new one", "tier: front", "tier: back", ""},
		{"an annotation makes a new one", "team: a", "team: b", ""},
		{"a null makes none", "  creationTimestamp: null\n", "  uid: null\n", "web-1"},
	} {
		got, ok := FindRevision(list, template(t, strings.Replace(baseTemplate, c.from, c.to, 1)))
		if got.Name != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v", c.name, got.Name, ok)
		}
	}
	list[0].Number = 4
	list = append(list, cluster.Revision{Name: "web-0", Number: 2, Template: list[0].Template})
	if got, _ := FindRevision(list, list[0].Template); got.Name != "web-1" {
		t.Errorf("of two alike: %s, want the newest", got.Name)
	}
}

func TestNextRevisionNumber(t *testing.T) {
	if got := NextRevisionNumber(nil); got != 1 {
		t.Errorf("the first is %d", got)
	}
	list := stored(t)
	list[0].Number = 9
	if got := NextRevisionNumber(list); got != 10 {
		t.Errorf("after 9 comes %d", got)
	}
}

func TestCloneSetCurrent(t *testing.T) {
	for _, c := range []struct {
		name                     string
		current                  string
		updated, total, replicas int
		want                     string
	}{
		{"missing", "", 0, 3, 3, "n"},
		{"under way", "o", 2, 3, 3, "o"},
		{"all updated", "o", 3, 3, 3, "n"},
		{"surge left", "o", 4, 4, 3, "o"},
		{"one missing", "o", 2, 2, 3, "o"},
		{"scaled to zero", "o", 0, 0, 0, "n"},
	} {
		if got := CloneSetCurrent(c.current, "n", c.updated, c.total, c.replicas); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// TestSameTemplateOfNothing: a revision that holds no template is like no other.
func TestSameTemplateOfNothing(t *testing.T) {
	some := map[string]any{"spec": map[string]any{"a": 1}}
	if SameTemplate(nil, some) || SameTemplate(some, nil) || !SameTemplate(nil, nil) {
		t.Error("nothing is compared wrongly")
	}
}
