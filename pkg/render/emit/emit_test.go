package emit_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

func config(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n"
}

func TestWrite_SeparatesDocuments(t *testing.T) {
	a, b := config("a"), config("b")
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"none":                     {nil, ""},
		"two files":                {[]string{a, b}, a + "---\n" + b},
		"the second with a marker": {[]string{a, "---\n" + b}, a + "---\n" + b},
		"no final newline":         {[]string{strings.TrimSpace(a), strings.TrimSpace(b)}, strings.TrimSpace(a) + "\n---\n" + strings.TrimSpace(b)},
		"ended document":           {[]string{a + "...\n", b}, a + "...\n" + b},
		"ended, no newline":        {[]string{a + "...", b}, a + "...\n" + b},
		"directive":                {[]string{a, "%YAML 1.1\n---\n" + b}, a + "...\n%YAML 1.1\n---\n" + b},
		"byte order marks":         {[]string{"\xef\xbb\xbf" + a, "\xef\xbb\xbf" + b}, "\xef\xbb\xbf" + a + "---\n" + b},
		"licence and marker":       {[]string{a, "# c\n---\n" + b}, a + "---\n# c\n---\n" + b},
		"JSON values":              {[]string{`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}} {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}`}, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}\n---\n {\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"b\"}}"},
	} {
		t.Run(name, func(t *testing.T) {
			var rs []*resource.Resource
			for _, f := range c.files {
				rs = append(rs, parse(t, "f", []byte(f))...)
			}
			out := string(stream(t, rs))
			if diff := cmp.Diff(c.want, out); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if len(rs) > 0 {
				same(t, rs, parse(t, "out", []byte(out)))
				if again := string(stream(t, parse(t, "out", []byte(out)))); again != out {
					t.Errorf("the output, sent through again, changes to %q", again)
				}
			}
		})
	}
}

// TestWrite_KeepsTheStyleOfChangedDocuments holds what the encoder keeps of a document that changed.
func TestWrite_KeepsTheStyleOfChangedDocuments(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"comments":    {"# licence\n\n" + config("a") + "  # end\n", "# licence\n" + config("a") + "  # end\nx: 1\n"},
		"compact":     {config("a") + "list:\n- b: []\n  c:\n  - d\n", config("a") + "list:\n- b: []\n  c:\n  - d\nx: 1\n"},
		"wide":        {config("a") + "list:\n  - b\n", config("a") + "list:\n  - b\nx: 1\n"},
		"flow first":  {config("a") + "f: [a, b]\nlist:\n  - b\n", config("a") + "f: [a, b]\nlist:\n  - b\nx: 1\n"},
		"quotes":      {config("a") + "q: 'it'\nd: \"it\"\n", config("a") + "q: 'it'\nd: \"it\"\nx: 1\n"},
		"long line":   {config("a") + "l: " + strings.Repeat("word ", 60) + "w\n", config("a") + "l: " + strings.Repeat("word ", 60) + "w\nx: 1\n"},
		"CRLF":        {strings.ReplaceAll(config("a"), "\n", "\r\n"), config("a") + "x: 1\n"},
		"aliases":     {config("a") + "a: &b {c: d}\ne: *b\n", config("a") + "a: {c: d}\ne: {c: d}\nx: 1\n"},
		"JSON":        {`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"b":"1","c":[1,1e3,null,true]}}`, config("a") + "data:\n  b: \"1\"\n  c:\n  - 1\n  - 1e3\n  - null\n  - true\nx: 1\n"},
		"folded text": {config("a") + "t: >-\n  a\n\n    b\n  c\n", config("a") + "t: |-\n  a\n\n    b\n  c\nx: 1\n"},
		"octal":       {config("a") + "m: 0644\n", config("a") + "m: 0644\nx: 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			rs := parse(t, "f", []byte(c.in))
			tree.Set(rs[0].Edit(), "x", tree.Int64(1))
			out := string(stream(t, rs))
			if diff := cmp.Diff(c.want, out); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestWrite_GeneratedTextIsReadAsItself holds that text which the engine makes is read as itself, in
// every style that a node can have.
func TestWrite_GeneratedTextIsReadAsItself(t *testing.T) {
	for _, text := range []string{"\ta\n", "\n\ta\n", "\t", "a\n b\n", "a\n\n", "<<", "", " ", "\n", "a\r\nb", "yes", "0777", "1e3", "---\na\n", "# a\n", "a: b", "\ufeff", "\u0085", "é😀"} {
		for _, style := range []yaml.Style{0, yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle, yaml.LiteralStyle, yaml.FoldedStyle} {
			n := tree.String(text)
			if style != 0 {
				n.Style = style
			}
			flow := tree.Seq(n, tree.Null(), &tree.Node{Kind: yaml.ScalarNode, Tag: yaml.NodeTagNull})
			flow.Style = yaml.FlowStyle
			r := object("v1", "ConfigMap", "a")
			tree.Set(r.Edit(), "data", tree.Map("a", n, "list", tree.Seq(n, n), "flow", flow))
			same(t, []*resource.Resource{r}, parse(t, "out", stream(t, []*resource.Resource{r})))
		}
	}
}

// TestEmit_WritesNothingOnError: an object that cannot be encoded keeps the others in.
func TestEmit_WritesNothingOnError(t *testing.T) {
	bad := resource.Derived(tree.Map("kind", "X", "bytes", tree.String("\xff")), &resource.Resource{})
	rs := append(parse(t, "f", []byte(config("a"))), bad, bad)
	for name, write := range map[string]func(*bytes.Buffer) error{
		"stream": func(b *bytes.Buffer) error { return emit.Stream(b, rs, stage.Limits{}) },
		"directory": func(*bytes.Buffer) error {
			_, err := emit.Dir(t.Context(), t.TempDir(), rs, emit.DirOptions{})
			return err
		},
	} {
		var b bytes.Buffer
		err := write(&b)
		if err == nil || strings.Count(err.Error(), "cannot be written as YAML") != 2 || b.Len() > 0 {
			t.Errorf("%s: error %v, %d bytes written", name, err, b.Len())
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestEmit_ReportsAFailingWriter(t *testing.T) {
	rs := parse(t, "f", []byte(config("a")))
	if emit.Stream(broken{}, rs, stage.Limits{}) == nil || emit.JSONStream(broken{}, rs, stage.Limits{}) == nil || emit.JSONStream(broken{}, nil, stage.Limits{}) == nil {
		t.Error("a broken pipe goes unnoticed")
	}
}

func TestJSONStream(t *testing.T) {
	object := func(name, pad string) string {
		lines := []string{"{", "    \"apiVersion\": \"v1\",", "    \"data\": {", "        \"html\": \"<a & b>\",", "        \"m\": 644", "    },", "    \"kind\": \"ConfigMap\",", "    \"metadata\": {", "        \"name\": \"" + name + "\"", "    }", "}"}
		return strings.Join(lines, "\n"+pad)
	}
	in := func(name string) []*resource.Resource {
		return parse(t, "f", []byte(config(name)+"data: {m: 644, html: <a & b>}\n"))
	}
	pad := "        "
	for name, c := range map[string]struct {
		rs   []*resource.Resource
		want string
	}{
		"one":     {in("a"), object("a", "") + "\n"},
		"several": {append(in("a"), in("b")...), "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n" + pad + object("a", pad) + ",\n" + pad + object("b", pad) + "\n    ],\n    \"kind\": \"List\"\n}\n"},
		"none":    {nil, "{\n    \"apiVersion\": \"v1\",\n    \"items\": [],\n    \"kind\": \"List\"\n}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := emit.JSONStream(&b, c.rs, stage.Limits{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, b.String()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestApplyOrder(t *testing.T) {
	kinds := []string{"ValidatingWebhookConfiguration", "Ingress", "CloneSet", "Deployment", "Service", "ConfigMap", "SidecarSet", "HorizontalPodAutoscaler", "RoleBinding", "ServiceAccount", "CustomResourceDefinition", "Namespace", "StorageClass", "Secret", "Pod"}
	want := []string{"Namespace", "CustomResourceDefinition", "StorageClass", "RoleBinding", "ServiceAccount", "ConfigMap", "Secret", "SidecarSet", "Service", "CloneSet", "Deployment", "Pod", "Ingress", "HorizontalPodAutoscaler", "ValidatingWebhookConfiguration"}
	var rs []*resource.Resource
	for _, k := range kinds {
		rs = append(rs, resource.Parsed(tree.Map("kind", k), nil, resource.Origin{}))
	}
	var got, kept []string
	for _, r := range emit.ApplyOrder(rs) {
		got = append(got, r.Kind())
	}
	for _, r := range rs {
		kept = append(kept, r.Kind())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff(kinds, kept); diff != "" {
		t.Errorf("the argument was sorted, too\n%s", diff)
	}
}

// TestDrain_WritesWhatStreamDoes lets go of what it wrote, and writes what Stream does.
func TestDrain_WritesWhatStreamDoes(t *testing.T) {
	rs := []*resource.Resource{object("v1", "ConfigMap", "a"), object("v1", "ConfigMap", "b")}
	var kept, drained strings.Builder
	must(t, emit.Stream(&kept, rs, stage.Limits{}))
	if rs[0] == nil {
		t.Fatal("Stream took the resources away")
	}
	must(t, emit.Drain(&drained, rs, stage.Limits{}))
	if diff := cmp.Diff(kept.String(), drained.String()); diff != "" {
		t.Errorf("-kept +drained\n%s", diff)
	}
	if rs[0] != nil || rs[1] != nil {
		t.Error("Drain holds on to what it wrote")
	}
}
