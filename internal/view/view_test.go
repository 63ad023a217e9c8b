package view

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

func cloneSet(name string) resource.ID {
	return resource.ID{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: name}
}

func found(s finding.Severity, name string, line int) finding.Finding {
	return finding.Finding{
		ID: "cloneset/" + string(s), Severity: s, Object: cloneSet(name), File: "app.yaml", Line: line,
		Field: "spec.x", Message: "x is " + string(s), Action: "do y",
	}
}

func TestFindings(t *testing.T) {
	list := []finding.Finding{
		found(finding.Approximate, "a", 3), found(finding.Exact, "a", 4),
		found(finding.Lost, "a", 5), found(finding.Lost, "b", 0),
	}
	list[3].File = ""
	tests := []struct {
		name string
		all  bool
		want string
	}{
		{name: "gravest first, exact ones left out, equal ones together", want: `LOST
  x is lost
    field:  spec.x
    object: CloneSet shop/a  app.yaml:5
            CloneSet shop/b
    do:     do y
    [cloneset/lost]
APPROXIMATE
  x is approximate
    field:  spec.x
    object: CloneSet shop/a  app.yaml:3
    do:     do y
    [cloneset/approximate]
`},
		{name: "all", all: true, want: `LOST
  x is lost
    field:  spec.x
    object: CloneSet shop/a  app.yaml:5
            CloneSet shop/b
    do:     do y
    [cloneset/lost]
APPROXIMATE
  x is approximate
    field:  spec.x
    object: CloneSet shop/a  app.yaml:3
    do:     do y
    [cloneset/approximate]
EXACT
  x is exact
    field:  spec.x
    object: CloneSet shop/a  app.yaml:4
    do:     do y
    [cloneset/exact]
`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Findings(&b, list, tc.all, Style{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, b.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFindings_NameOnlySomeObjects(t *testing.T) {
	var list []finding.Finding
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		list = append(list, found(finding.Lost, name, 1))
	}
	var b bytes.Buffer
	if err := Findings(&b, list, false, Style{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "and 3 more objects\n") || strings.Contains(b.String(), "shop/d") {
		t.Errorf("want three names and the number of the rest, got:\n%s", b.String())
	}
}

func TestFindings_ColourOnlyOnRequest(t *testing.T) {
	var plain, coloured bytes.Buffer
	list := []finding.Finding{found(finding.Lost, "a", 1)}
	if err := Findings(text.Writer(&plain), list, false, Style{}); err != nil {
		t.Fatal(err)
	}
	if err := Findings(text.Writer(&coloured), list, false, Style{Color: true}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(plain.String(), "\x1b") {
		t.Errorf("escapes without colour: %q", plain.String())
	}
	if !strings.HasPrefix(coloured.String(), "\x1b[31mLOST\x1b[0m\n") {
		t.Errorf("colour: %q", coloured.String())
	}
}

func TestSummary(t *testing.T) {
	tests := []struct {
		in, out int
		list    []finding.Finding
		want    string
	}{
		{1, 3, nil, "rendered 1 object into 3"},
		{2, 2, []finding.Finding{found(finding.Exact, "a", 1), found(finding.Lost, "a", 1), found(finding.Exact, "b", 1)}, "rendered 2 objects into 2; findings: 1 lost, 2 exact"},
	}
	for _, tc := range tests {
		if got := Summary(tc.in, tc.out, tc.list); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

func TestExplanations(t *testing.T) {
	var b bytes.Buffer
	err := Explanations(&b, []stage.Explanation{
		{Template: resource.ID{Kind: "Pod", Name: "p"}, SidecarSet: "logs", Injected: true, Reason: "selector app=web matches"},
		{Template: cloneSet("web"), SidecarSet: "mesh", Reason: "injection is paused"},
	}, Style{})
	if err != nil {
		t.Fatal(err)
	}
	want := `TEMPLATE           SIDECARSET  INJECTED  WHY
Pod p              logs        yes       selector app=web matches
CloneSet shop/web  mesh        no        injection is paused
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	if err := Explanations(&b, nil, Style{}); err != nil || b.String() != "no pod template met a SidecarSet\n" {
		t.Errorf("nothing to explain: %q, %v", b.String(), err)
	}
}

func TestReport(t *testing.T) {
	r := NewReport(2, 3, []finding.Finding{found(finding.Lost, "a", 5)}, []stage.Explanation{{Template: cloneSet("web"), Path: "spec.template", SidecarSet: "mesh", Reason: "paused"}})
	b, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	object := map[string]any{"group": "apps.kruise.io", "kind": "CloneSet", "namespace": "shop"}
	with := func(name string) map[string]any {
		m := maps.Clone(object)
		m["name"] = name
		return m
	}
	want := map[string]any{
		"apiVersion": "kubectl-kruise.dev/v1alpha1", "kind": "RenderReport",
		"inputObjects": 2.0, "outputObjects": 3.0, "worst": "lost",
		"findings": []any{map[string]any{
			"object": with("a"), "id": "cloneset/lost", "severity": "lost", "file": "app.yaml", "line": 5.0,
			"field": "spec.x", "message": "x is lost", "action": "do y",
		}},
		"explanations": []any{map[string]any{
			"template": with("web"), "path": "spec.template", "sidecarSet": "mesh", "injected": false, "reason": "paused",
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if b[len(b)-1] != '\n' {
		t.Error("no final newline")
	}
}

// TestReport_EmptyListsAreNotNull: no findings are an empty list, not null, for readers that
// iterate.
func TestReport_EmptyListsAreNotNull(t *testing.T) {
	b, err := NewReport(0, 0, nil, nil).JSON()
	if err != nil || !strings.Contains(string(b), `"findings": []`) {
		t.Errorf("%s, %v", b, err)
	}
}

// TestGrouped_KeepsTheOrder: groups in the order of their first, and each in the order of the list.
func TestGrouped_KeepsTheOrder(t *testing.T) {
	got := Grouped([]string{"b1", "a1", "b2", "c1", "a2"}, func(s string) byte { return s[0] })
	if diff := cmp.Diff([][]string{{"b1", "b2"}, {"a1", "a2"}, {"c1"}}, got); diff != "" {
		t.Error(diff)
	}
}
