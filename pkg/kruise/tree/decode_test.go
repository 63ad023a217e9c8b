package tree

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// thing has one field of each sort that the API types have.
type thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Number            *int32              `json:"number,omitempty"`
	Flag              bool                `json:"flag,omitempty"`
	Text              string              `json:"text,omitempty"`
	Amount            *intstr.IntOrString `json:"amount,omitempty"`
	When              metav1.Time         `json:"when,omitzero"`
	Data              []byte              `json:"data,omitempty"`
	Names             []string            `json:"names,omitempty"`
	Counts            map[string]int32    `json:"counts,omitempty"`
	Containers        []wrapped           `json:"containers,omitempty"`
}

type wrapped struct {
	corev1.Container `json:",inline"`
	Extra            string `json:"extra,omitempty"`
}

func TestDecode(t *testing.T) {
	n := document(t, "kind: Thing\nmetadata: {name: a, labels: {k: v}}\nnumber: 0x10\namount: 20%\nwhen: 2026-01-02T03:04:05Z\ndata: aGk=\ncontainers:\n- {name: c, extra: x, resources: {limits: {cpu: 1}}}\n")
	var got thing
	unknown, err := Decode(n, &got)
	if err != nil || unknown != nil {
		t.Fatal(unknown, err)
	}
	if got.Kind != "Thing" || got.Labels["k"] != "v" || *got.Number != 16 || got.Amount.StrVal != "20%" || got.When.Year() != 2026 || string(got.Data) != "hi" {
		t.Errorf("%+v", got)
	}
	if c := got.Containers[0]; c.Name != "c" || c.Extra != "x" || !c.Resources.Limits.Cpu().Equal(resource.MustParse("1")) {
		t.Errorf("%+v", c)
	}
}

func TestDecode_ReportsUnknownFields(t *testing.T) {
	var got thing
	unknown, err := Decode(document(t, "{Number: 1, metadata: {odd: 1}, containers: [{name: a}, {name: b, more: {x: 1}}], 'we\"ird': 1}"), &got)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(unknown)
	if diff := cmp.Diff([]string{"Number", "containers[1].more", "metadata.odd", `we"ird`}, unknown); diff != "" {
		t.Error(diff)
	}
}

func TestDecode_RefusesWrongTypes(t *testing.T) {
	for _, c := range []struct {
		text, path string
		line       int
		msg        string
	}{
		{"a: 1\nnumber: many", "number", 2, "string is not allowed here, want int32"},
		{"number: 1.5", "number", 1, "number 1.5 is not allowed here, want int32"},
		{"number: 99999999999", "number", 1, "number 99999999999 is not allowed here, want int32"},
		{"number: [1]", "number", 1, "array is not allowed here, want int32"},
		{"\n\nflag: 1", "flag", 3, "number is not allowed here, want bool"},
		{"text: {a: b}", "text", 1, "object is not allowed here, want string"},
		{"text: 7", "text", 1, "number is not allowed here, want string"},
		{"names: a", "names", 1, "string is not allowed here, want a list"},
		{"names:\n- a\n- 7", "names[1]", 3, "number is not allowed here, want string"},
		{"counts: {a: 1,\n b: x}", "counts[b]", 2, "string is not allowed here, want int32"},
		{"metadata: text", "metadata", 1, "string is not allowed here, want a mapping"},
		{"metadata:\n  labels:\n    k8s.io/a: x\n    k8s.io/b: true", "metadata.labels[k8s.io/b]", 4, "bool is not allowed here, want string"},
		{"containers:\n- name: a\n- name: b\n  ports:\n  - containerPort: http", "containers[1].ports[0].containerPort", 5, "string is not allowed here, want int32"},
		{"containers:\n- {name: a, extra: 1}", "containers[0].extra", 2, "number is not allowed here, want string"},
		{"containers:\n- name: a\n  resources:\n    limits:\n      memory: lots", "containers[0].resources.limits[memory]", 5, "not an amount: want a number, with a unit or without, such as 500m, 2 or 1.5Gi"},
		{"when: yesterday", "when", 1, `parsing time "yesterday"`},
		{"amount: 1.5", "amount", 1, "number 1.5 is not allowed here"},
		{"data: '%'", "data", 1, "illegal base64"},
		{"[1]", "", 1, "array is not allowed here, want a mapping"},
		{"text", "", 1, "string is not allowed here, want a mapping"},
	} {
		var got thing
		_, err := Decode(document(t, c.text), &got)
		var te *Error
		if !errors.As(err, &te) {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if te.Path != c.path || te.Line != c.line || len(te.Msg) < len(c.msg) || te.Msg[:len(c.msg)] != c.msg {
			t.Errorf("%q: %s, line %d: %s", c.text, te.Path, te.Line, te.Msg)
		}
	}
}

func TestDecode_HintsAtTheRightType(t *testing.T) {
	for text, want := range map[string]string{
		"text: 7": "put the value in quotes", "flag: 'true'": "write it without quotes", "flag: yes": "write true or false", "flag: Off": "write true or false",
		"flag: perhaps": "", "number: many": "", "text: [a]": "", "flag: 1": "",
	} {
		var got thing
		_, err := Decode(document(t, text), &got)
		var te *Error
		if !errors.As(err, &te) || te.Hint != want {
			t.Errorf("%q: %v, hint %q, want %q", text, err, te.Hint, want)
		}
	}
}

func TestError(t *testing.T) {
	n := document(t, "a:\n  b: 1\n")
	err := Errorf(n, "a.b.c", "try", "no %s", "good")
	if err.Error() != "a.b.c: no good" || err.Line != 2 || err.Hint != "try" {
		t.Errorf("%+v", err)
	}
	if s := (&Error{Msg: "bare"}).Error(); s != "bare" {
		t.Error(s)
	}
}
