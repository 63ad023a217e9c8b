package create_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/create"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

var table = []create.Field{
	{Flag: "image", Path: "spec.image", Shape: create.Text},
	{Flag: "pull-policy", Path: "spec.policy", Shape: create.Text, Legal: []string{"Always", "Never"}},
	{Flag: "grace-period", Short: "g", Path: "spec.strategy.grace", Shape: create.Number, Default: "3"},
	{Flag: "partition", Path: "spec.partition", Shape: create.Amount},
	{Flag: "paused", Path: "spec.paused", Shape: create.Truth},
	{Flag: "nodes", Path: "spec.nodes", Shape: create.Texts},
	{Flag: "secrets", Path: "spec.secrets", Shape: create.Names},
	{Flag: "labels", Path: "metadata.labels", Shape: create.Pairs},
	{Flag: "selector", Path: "spec.selector", Shape: create.Selector},
	{Flag: "container", Path: "spec.containers", Shape: create.Containers},
	{Flag: "type", Path: "spec.containers.*.type", Shape: create.Text},
	{Flag: "scatter", Path: "spec.scatter", Shape: create.Terms},
	{Flag: "first", Path: "spec.list[0].first", Shape: create.Text},
}

// filled is the object that a command line makes.
func filled(args ...string) (object map[string]any, err error) {
	c := &cobra.Command{Use: "x", SilenceErrors: true, SilenceUsage: true}
	set := create.BindFields(c, table)
	n := tree.Map()
	c.RunE = func(*cobra.Command, []string) error { return set.Fill(n) }
	c.SetArgs(args)
	if err := c.Execute(); err != nil {
		return nil, err
	}
	return tree.Value(n).(map[string]any), nil
}

func TestFill(t *testing.T) {
	type m = map[string]any
	for args, want := range map[string]m{
		"":                                  {},
		"--image web:1 --pull-policy Never": {"image": "web:1", "policy": "Never"},
		"--partition 2":                     {"partition": int64(2)},
		"--partition 20%":                   {"partition": "20%"},
		"--paused":                          {"paused": true},
		"--paused=false":                    {"paused": false},
		"--nodes a,b --nodes c":             {"nodes": []any{"a", "b", "c"}},
		"--secrets a,b":                     {"secrets": []any{m{"name": "a"}, m{"name": "b"}}},
		"--selector app=web,tier!=db": {"selector": m{"matchLabels": m{"app": "web"}, "matchExpressions": []any{
			m{"key": "tier", "operator": "NotIn", "values": []any{"db"}},
		}}},
		"--container a=x:1 --container b=y:2 --type hot": {"containers": []any{
			m{"name": "a", "image": "x:1", "type": "hot"}, m{"name": "b", "image": "y:2", "type": "hot"},
		}},
		"--scatter a=b,c= --scatter d=e":               {"scatter": []any{m{"key": "a", "value": "b"}, m{"key": "c", "value": ""}, m{"key": "d", "value": "e"}}},
		"--first one":                                  {"list": []any{m{"first": "one"}}},
		"--set spec.a.b[0].c=true --set spec.a.b[1]=2": {"a": m{"b": []any{m{"c": true}, int64(2)}}},
		"--set spec.a={x,y:1}":                         {"a": m{"x": nil, "y:1": nil}},
		"--set spec.a=":                                {"a": ""},
		"--set spec.image=own --image web:1":           {"image": "own"},
	} {
		t.Run(args, func(t *testing.T) {
			got, err := filled(strings.Fields(args)...)
			if err != nil {
				t.Fatal(err)
			}
			want["strategy"] = m{"grace": int64(3)}
			if diff := cmp.Diff(m{"spec": want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFlags_AcceptCamelCase: flags of the older plugin are spelt as fields are.
func TestFlags_AcceptCamelCase(t *testing.T) {
	for _, flag := range []string{"--gracePeriod", "--grace-period", "-g"} {
		got, err := filled(flag, "7")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]any{"spec": map[string]any{"strategy": map[string]any{"grace": int64(7)}}}, got); diff != "" {
			t.Errorf("%s: %s", flag, diff)
		}
	}
}

func TestFill_AcceptsLabelsWithSlashes(t *testing.T) {
	got, err := filled("--labels", "a/b=c,d=", "--set", "metadata.labels[x.io/y=z]=1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"a/b": "c", "d": "", "x.io/y=z": int64(1)}, got["metadata"].(map[string]any)["labels"]); diff != "" {
		t.Error(diff)
	}
}

func TestFill_Refuses(t *testing.T) {
	for args, say := range map[string]string{
		"--pull-policy Maybe":            "one of: Always, Never",
		"--grace-period x":               "not a whole number",
		"--partition x%":                 "neither a number nor a percentage",
		"--nodes a,,b":                   "empty element",
		"--labels a":                     `"a" is not KEY=VALUE`,
		"--selector ,":                   "",
		"--selector a>1":                 `knows no "gt"`,
		"--selector =":                   "selector",
		"--scatter a":                    `"a" is not LABEL=VALUE`,
		"--container a":                  `"a" is not NAME=IMAGE`,
		"--type hot":                     "--type: there is nothing yet that has it",
		"--set x":                        `--set: "x" is not PATH=VALUE`,
		"--set =x":                       "is not PATH=VALUE",
		"--set spec.list[2]=x --first y": "there is no element 2, the next one is 1",
		"--set spec.image.a=x --image y": "there is no field a in a plain value",
		"--set spec.a=[":                 "the value is not YAML",
		"--set spec.a=*b":                "--set spec.a",
	} {
		_, err := filled(strings.Fields(args)...)
		if err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v, want %q", args, err, say)
		}
		if bad, ok := errors.AsType[*command.UsageError](err); strings.HasPrefix(args, "--set") && (!ok || bad.Hint == "") {
			t.Errorf("%s: no hint", args)
		}
	}
}

func FuzzPut(f *testing.F) {
	f.Add("spec.a[0].b", "x")
	f.Add("*.x[-1]", "{a: [1]}")
	f.Fuzz(func(t *testing.T, path, v string) {
		if len(path)+len(v) > 64 {
			return
		}
		n := tree.Map("spec", tree.Map("a", tree.Seq()))
		_ = create.PutField(n, path, tree.String(v))
		if !tree.IsMap(n) {
			t.Error("the object is gone")
		}
	})
}
