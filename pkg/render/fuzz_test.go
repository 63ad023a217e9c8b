package render_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// oddities are what a node of a manifest is replaced with.
var oddities = []string{
	"null", "[]", "{}", "[null]", "[{}]", "[[a]]", "[a]", "{a: b}", "{'': b}", "text", "''", "-1", "0", "2147483648",
	"99999999999999999999", "1e99", "true", "'%'", "'101%'", "'-5%'", "'${A}'", "'*'",
}

// FuzzRender replaces two nodes of a manifest of the examples with something
// odd: whatever it is, the whole pipeline renders or refuses it, and what it
// renders can be read again.
func FuzzRender(f *testing.F) {
	files, err := filepath.Glob("../../examples/shop/base/*/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal("no examples", err)
	}
	for i := range uint16(64) {
		f.Add(i, i*37, uint8(i), i*53, uint8(i>>1), i%2 == 0, i%3 == 0)
	}
	f.Fuzz(func(t *testing.T, file, at uint16, odd uint8, also uint16, odder uint8, client, keep bool) {
		text, err := os.ReadFile(files[int(file)%len(files)])
		if err != nil {
			t.Fatal(err)
		}
		text = distorted(t, distorted(t, text, int(at), int(odd)), int(also), int(odder))
		in, err := load.Parse("in.yaml", text)
		if err != nil {
			return
		}
		opt := render.Options{Explain: true}
		if client {
			opt.Driver = stage.Client
		}
		if keep {
			opt.Target = render.Kruise
		}
		res, err := render.Render(in, opt)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := emit.Stream(&out, res.Resources, stage.Limits{}); err != nil {
			t.Fatal(err)
		}
		back, err := load.Parse("out.yaml", out.Bytes())
		if err != nil || len(back) != len(res.Resources) {
			t.Errorf("%d objects went out, %d came back: %v\n%s", len(res.Resources), len(back), err, out.Bytes())
		}
	})
}

// distorted replaces one node.
func distorted(t *testing.T, text []byte, at, odd int) []byte {
	t.Helper()
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	var docs, all []*yaml.Node
	for dec := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var n yaml.Node
		if dec.Decode(&n) != nil {
			break
		}
		docs = append(docs, &n)
		all = append(all, below(&n)...)
	}
	var by yaml.Node
	if err := yaml.Unmarshal([]byte(oddities[odd%len(oddities)]), &by); err != nil {
		t.Fatal(err)
	}
	if len(all) > 0 {
		*all[at%len(all)] = *by.Content[0]
	}
	for _, n := range docs {
		if e.Encode(n) != nil {
			return nil
		}
	}
	if e.Close() != nil {
		return nil
	}
	return out.Bytes()
}

// below returns the nodes below n.
func below(n *yaml.Node) []*yaml.Node {
	var all []*yaml.Node
	for _, child := range n.Content {
		all = append(append(all, child), below(child)...)
	}
	return all
}
