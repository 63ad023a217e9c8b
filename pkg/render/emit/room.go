package emit

import (
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// room is what an output may still hold, of whichever format. Every text takes its bytes before
// it is made, by what it weighs, and what it is longer than that afterwards.
type room struct{ *stage.Room }

func newRoom(limits stage.Limits) room { return room{limits.Room()} }

// make returns the text that encode makes of what weighs so many bytes; nil where the output has
// no room for it, which [room.fault] reports.
func (o room) make(weight int64, encode func() ([]byte, error)) ([]byte, error) {
	if !o.Take(tree.Weight{Bytes: weight}) {
		return nil, nil
	}
	text, err := encode()
	o.Take(tree.Weight{Bytes: max(int64(len(text))-weight, 0)})
	return text, err
}

// fault is an error if more was taken than there is.
func (o room) fault() error { return o.Err("the output") }

// yamlBytes is about how long a resource is as YAML.
func yamlBytes(r *resource.Resource) int64 { return r.Weight().Bytes }

// jsonBytes is about how long a resource is as JSON that is indented by level steps to the right.
func jsonBytes(level int) func(*resource.Resource) int64 {
	return func(r *resource.Resource) int64 { return jsonLength(r.Node(), level) }
}

// jsonLength counts n with the line that closes it, whose indentation is level steps.
func jsonLength(n *tree.Node, level int) int64 {
	if n.Kind == yaml.ScalarNode {
		return quotedLength(n.Value)
	}
	line := int64(len(",\n") + len(indent)*(level+1))
	total := int64(len("{\n}") + len(indent)*level)
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			total += int64(len(": "))
		} else {
			total += line
		}
		total += jsonLength(child, level+1)
	}
	return total
}

// quotedLength is how long a text is as JSON, with quotes and escapes.
func quotedLength(s string) int64 {
	n := len(s) + len(`""`)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '\n' || c == '\t' || c == '\r':
			n++
		case c < ' ':
			n += len(`\u0001`) - 1
		}
	}
	return int64(n)
}
