package emit

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// encodeYAML returns every resource as a YAML document: its bytes, when it
// still has them. It empties rs, so that memory goes back meanwhile.
func encodeYAML(rs []*resource.Resource) ([][]byte, error) {
	return encodeAll(rs, func() func(*resource.Resource) ([]byte, error) { return (&direct{}).resource })
}

// encodeAll encodes every resource, on all cores, and empties rs; each goroutine
// asks for a function of its own. It returns the faults of all resources.
func encodeAll(rs []*resource.Resource, encoder func() func(*resource.Resource) ([]byte, error)) ([][]byte, error) {
	docs, errs := make([][]byte, len(rs)), make([]error, len(rs))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(rs)) {
		wg.Go(func() {
			f := encoder()
			for i := int(next.Add(1)) - 1; i < len(rs); i = int(next.Add(1)) - 1 {
				docs[i], errs[i] = f(rs[i])
				rs[i] = nil
			}
		})
	}
	wg.Wait()
	var all resource.Errors
	for _, err := range errs {
		all.Add(err)
	}
	return docs, all.Err()
}

// resource returns the bytes that r came in, or is written as.
func (d *direct) resource(r *resource.Resource) ([]byte, error) {
	if raw := r.Raw(); raw != nil {
		return raw, nil
	}
	n := r.Node()
	text, err := d.encode(n, styleOf(n))
	if err != nil {
		return nil, r.Wrap(fmt.Errorf("cannot be written as YAML: %w", err), "")
	}
	return bytes.Clone(text), nil
}

// encode returns the text of n, valid until the next call.
func (d *direct) encode(n *tree.Node, style yaml.SequenceIndentStyle) ([]byte, error) {
	if text, ok := d.document(n, style); ok {
		return text, nil
	}
	return byLibrary(n, style)
}

// byLibrary has yaml.v3 write n. It holds every event that an encoder has ever emitted, some
// 300 bytes each, so one encoder must not serve many documents.
func byLibrary(n *tree.Node, style yaml.SequenceIndentStyle) ([]byte, error) {
	var b bytes.Buffer
	err := yaml.NewEncoderWithOptions(&b, &yaml.EncoderOptions{SeqIndent: style}).Encode(prepare(n, false))
	return b.Bytes(), err
}

// Tree returns n, an object or a document, as one YAML document with compact
// lists. It is for those who write a wrapper around objects, such as a
// ResourceList.
func Tree(n *tree.Node) ([]byte, error) { return (&direct{}).encode(n, yaml.CompactSequenceStyle) }
