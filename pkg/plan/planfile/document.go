package planfile

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// limits bound what a document may grow to; a plan of 10,000 pods has a tenth of
// so many nodes.
var limits = tree.Limits{Nodes: 2_000_000, Depth: 100}

// parse reads the one document that there must be.
func parse(data []byte) (n *tree.Node, err error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc tree.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &tree.Error{Msg: "there is no document"}
		}
		return nil, &tree.Error{Msg: strings.TrimPrefix(redact.Message(err.Error(), nil), "yaml: "), Hint: "it has to be YAML or JSON"}
	}
	if err := dec.Decode(new(tree.Node)); !errors.Is(err, io.EOF) {
		return nil, &tree.Error{Msg: "there is more than one document", Hint: "write one to a file"}
	}
	root := tree.Root(&doc)
	if _, err := tree.Expand(root, 0, limits); err != nil {
		return nil, err
	}
	if !tree.IsMap(root) {
		return nil, tree.Errorf(root, "", "", "a mapping is wanted")
	}
	return root, nil
}

// typed refuses documents of another version or kind.
func typed(n *tree.Node, apiVersion, kind string) error {
	if v := tree.StrAt(n, "apiVersion"); v != apiVersion {
		return tree.Errorf(n, "apiVersion", "this program reads "+apiVersion, "%s %q", missingOr(v, "version"), v)
	}
	if k := tree.StrAt(n, "kind"); k != kind {
		return tree.Errorf(n, "kind", "want "+kind, "%s %q", missingOr(k, "kind"), k)
	}
	return nil
}

func missingOr(v, what string) string {
	if v == "" {
		return "no " + what
	}
	return "unknown " + what
}

// strict decodes a document and refuses fields that nobody reads.
func strict(n *tree.Node, into any) error {
	unknown, err := tree.Decode(n, into)
	if err != nil {
		return err
	}
	var faults []error
	for _, path := range unknown {
		faults = append(faults, tree.Errorf(n, path, "check the spelling", "unknown field"))
	}
	return errors.Join(faults...)
}

// write turns what encodes as JSON into YAML whose keys stand in the order of the
// types.
func write(v any) []byte {
	text, err := encoded(v)
	if err != nil {
		return nil // plain data always encodes
	}
	var doc tree.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil // JSON is YAML
	}
	blockStyle(&doc)
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	if enc.Encode(&doc) != nil || enc.Close() != nil {
		return nil
	}
	return out.Bytes()
}

// blockStyle undoes the look of JSON: no braces, and quotes only where a reader
// would take the plain form for something else.
func blockStyle(n *tree.Node) {
	if n.Kind == yaml.ScalarNode && n.Tag == yaml.NodeTagString {
		n.Style = tree.String(n.Value).Style
		return
	}
	n.Style = 0
	if len(n.Content) == 0 && n.Kind != yaml.ScalarNode {
		n.Style = yaml.FlowStyle
	}
	for _, c := range n.Content {
		blockStyle(c)
	}
}
