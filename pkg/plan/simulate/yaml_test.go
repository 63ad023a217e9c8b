package simulate

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// parseAll reads all documents of a text.
func parseAll(text string) ([]*tree.Node, error) {
	var out []*tree.Node
	d := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	for {
		var n tree.Node
		if err := d.Decode(&n); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		out = append(out, tree.Root(&n))
	}
}

// parse reads a text of one document.
func parse(tb testing.TB, text string) *tree.Node {
	tb.Helper()
	return documents(tb, text)[0]
}
