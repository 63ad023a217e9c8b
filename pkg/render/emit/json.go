package emit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// indent is kubectl's.
const indent = "    "

// JSONStream writes one object as it is and any other number of them as the
// items of a v1 List, as kubectl does; keys are in alphabetical order.
func JSONStream(w io.Writer, rs []*resource.Resource) error {
	level := 2
	if len(rs) == 1 {
		level = 0
	}
	docs, err := encodeJSON(slices.Clone(rs), level)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	// bufio keeps the first error for Flush.
	if len(docs) == 1 {
		_, _ = out.Write(docs[0])
		_, _ = out.WriteString("\n")
		return out.Flush()
	}
	_, _ = out.WriteString("{\n" + indent + `"apiVersion": "v1",` + "\n" + indent + `"items": [`)
	for i, doc := range docs {
		if i > 0 {
			_, _ = out.WriteString(",")
		}
		_, _ = out.WriteString("\n" + indent + indent)
		_, _ = out.Write(doc)
		docs[i] = nil // it may be large
	}
	if len(docs) > 0 {
		_, _ = out.WriteString("\n" + indent)
	}
	_, _ = out.WriteString("],\n" + indent + `"kind": "List"` + "\n}\n")
	return out.Flush()
}

// encodeJSON returns every resource as JSON that stands level steps to the
// right.
func encodeJSON(rs []*resource.Resource, level int) ([][]byte, error) {
	return encodeAll(rs, func() func(*resource.Resource) ([]byte, error) {
		return func(r *resource.Resource) ([]byte, error) { return jsonText(r, level) }
	})
}

// jsonText returns the resource as JSON that stands level steps to the right,
// without a line end.
func jsonText(r *resource.Resource, level int) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(string(bytes.Repeat([]byte(indent), level)), indent)
	if err := enc.Encode(tree.Value(r.Node())); err != nil {
		return nil, r.Wrap(fmt.Errorf("cannot be written as JSON: %w", err), "")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
