package planfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Write writes a plan as YAML. The same plan always gives the same bytes, and [Read] has read them
// back as the same plan: everything that stores a plan or hands it out has its text from here, so
// that none is written which a later run refuses. An error comes with the text that it is about,
// which must not be kept.
func Write(p plan.Plan) ([]byte, error) {
	d := document{APIVersion: plan.APIVersion, Kind: plan.Kind, Metadata: metadata{Name: p.Target.Name, Namespace: p.Target.Namespace}, Spec: p}
	if d.Spec.Steps == nil {
		d.Spec.Steps = []plan.Step{}
	}
	text := write(d)
	read, err := Read(text)
	if err != nil {
		return text, fmt.Errorf("the plan of %s cannot be read back: %w", p.Target.Ref(), err)
	}
	if path, differs := difference(reflect.ValueOf(p), reflect.ValueOf(read)); differs {
		return text, fmt.Errorf("the plan of %s is read back with another %s", p.Target.Ref(), strings.TrimPrefix(path, "."))
	}
	return text, nil
}

// encoded is JSON that leaves <, > and & as they are.
func encoded(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return out.Bytes(), err
}

// write turns what encodes as JSON into YAML with its keys in the order of the
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
