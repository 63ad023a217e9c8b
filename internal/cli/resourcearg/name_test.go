package resourcearg

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

func TestParse(t *testing.T) {
	kruiseSet := schema.GroupKind{Group: "apps.kruise.io", Kind: "StatefulSet"}
	nativeSet := schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
	for arg, want := range map[string][]schema.GroupKind{
		"cloneset/web":                           {{Group: "apps.kruise.io", Kind: "CloneSet"}},
		"CloneSets/web":                          {{Group: "apps.kruise.io", Kind: "CloneSet"}},
		"clone/web":                              {{Group: "apps.kruise.io", Kind: "CloneSet"}},
		"sts/web":                                {kruiseSet, nativeSet},
		"asts/web":                               {kruiseSet},
		"statefulset.apps/web":                   {nativeSet},
		"statefulsets.apps.kruise.io/web":        {kruiseSet},
		"statefulset.v1beta1.apps.kruise.io/web": {kruiseSet},
		"sts.v1.apps/web":                        {nativeSet},
		"ds/web":                                 {{Group: "apps", Kind: "DaemonSet"}},
		"deploy/web":                             {{Group: "apps", Kind: "Deployment"}},
	} {
		n, err := Parse(arg)
		if err != nil || n.Name != "web" || n.String() != arg {
			t.Errorf("%s: %+v, %v", arg, n, err)
		}
		if diff := cmp.Diff(want, n.Kinds); diff != "" {
			t.Errorf("%s:\n%s", arg, diff)
		}
	}
	for _, arg := range []string{"", "web", "/web", "cloneset/", "cloneset/a/b", "pod/web", "cloneset.apps/web", "sts.example.com/web"} {
		var bad *command.UsageError
		if _, err := Parse(arg); !errors.As(err, &bad) || bad.Hint == "" {
			t.Errorf("%q: %v", arg, err)
		}
	}
}

func TestPlural(t *testing.T) {
	for kind, want := range map[schema.GroupKind]string{
		{Group: "apps", Kind: "ReplicaSet"}: "replicasets", {Group: "apps.kruise.io", Kind: "DaemonSet"}: "daemonsets", {Kind: "Pod"}: "pods", {Kind: "Node"}: "",
	} {
		if got := Plural(kind); got != want {
			t.Errorf("%v: %q, want %q", kind, got, want)
		}
	}
}

func parseCases(t *testing.T, docs ...string) []*resource.Resource {
	t.Helper()
	list, err := load.Parse("in.yaml", []byte(strings.Join(docs, "\n---\n")))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func testObject(apiVersion, kind, namespace, name string) string {
	return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {namespace: " + namespace + ", name: " + name + "}"
}

func TestPick(t *testing.T) {
	service := testObject("v1", "Service", "a", "web")
	clone := testObject("apps.kruise.io/v1beta1", "CloneSet", "a", "web")
	other := testObject("apps.kruise.io/v1beta1", "CloneSet", "b", "web")
	sets := []string{testObject("apps.kruise.io/v1beta1", "StatefulSet", "a", "db"), testObject("apps/v1", "StatefulSet", "a", "db")}
	for _, c := range []struct {
		name, arg, namespace string
		docs                 []string
		want                 string
		usage                bool
	}{
		{name: "the only one", docs: []string{service, clone}, want: "a/web"},
		{name: "by name", docs: append(sets, clone), arg: "clone/web", want: "a/web"},
		{name: "by namespace", docs: []string{clone, other}, namespace: "b", want: "b/web"},
		{name: "without a namespace of its own", docs: []string{strings.Replace(clone, "namespace: a, ", "", 1)}, namespace: "b", want: "/web"},
		{name: "none", docs: []string{service}, want: "in.yaml: holds no workload"},
		{name: "none of a namespace", docs: []string{clone}, namespace: "b", want: "in.yaml: holds no workload in namespace b"},
		{name: "another", docs: []string{clone}, arg: "clone/api", want: "in.yaml: holds no clone/api"},
		{name: "several", docs: append(sets, clone), want: "in.yaml holds 3 workloads", usage: true},
		{name: "two of a name", docs: sets, arg: "sts/db", want: "sts/db is not clear in in.yaml", usage: true},
		{name: "a name of several lines", docs: []string{strings.Replace(clone, "name: web", `name: "web\nhint: sh"`, 1)}, want: `in.yaml:1: "web\nhint: sh" is not a name of a workload`},
		{name: "a command as a name", docs: []string{strings.Replace(clone, "name: web", `name: "$(id)"`, 1)}, want: `in.yaml:1: "$(id)" is not a name of a workload`},
		{name: "told apart by group", docs: sets, arg: "sts.apps/db", want: "a/db"},
	} {
		var name *Name
		if c.arg != "" {
			n, err := Parse(c.arg)
			if err != nil {
				t.Fatal(err)
			}
			name = &n
		}
		r, err := Pick(parseCases(t, c.docs...), name, c.namespace, "in.yaml")
		got := fmt.Sprint(err)
		if err == nil {
			got = r.Namespace() + "/" + r.Name()
		}
		var bad *command.UsageError
		if got != c.want || errors.As(err, &bad) != c.usage {
			t.Errorf("%s: %q, want %q; %v", c.name, got, c.want, err)
		}
	}
}

// TestPick_HintCanBeCopied: the command in the hint can be typed.
func TestPick_HintCanBeCopied(t *testing.T) {
	var docs []string
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		docs = append(docs, testObject("apps/v1", "StatefulSet", "x", name))
	}
	_, err := Pick(parseCases(t, docs...), nil, "", "in.yaml")
	var bad *command.UsageError
	if !errors.As(err, &bad) || bad.Hint != "name one: statefulset.apps/a, statefulset.apps/b, statefulset.apps/c, statefulset.apps/d, statefulset.apps/e, statefulset.apps/f, …" {
		t.Errorf("%+v", bad)
	}
	_, err = Pick(parseCases(t, docs[0], testObject("apps/v1", "Deployment", "x", `"$(id)\nrun"`)), nil, "", "in.yaml")
	if !errors.As(err, &bad) || bad.Hint != `name one: statefulset.apps/a, "deployment/$(id)\nrun"` {
		t.Errorf("%+v", bad)
	}
}

func TestParseOne_RefusesSeveral(t *testing.T) {
	if n, err := ParseOne([]string{"cloneset/web"}); err != nil || n.Name != "web" {
		t.Errorf("%+v, %v", n, err)
	}
	for _, args := range [][]string{nil, {"web"}, {"cloneset/web", "cloneset/api"}} {
		var bad *command.UsageError
		if _, err := ParseOne(args); !errors.As(err, &bad) || bad.Hint == "" {
			t.Errorf("%q: %v", args, err)
		}
	}
}
