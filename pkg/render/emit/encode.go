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

// encoder writes documents for one goroutine. Only the buffers are kept from
// one document to the next: yaml.v3 holds every event that an encoder has ever
// emitted, some 300 bytes each, so one encoder must not serve many documents.
type encoder struct {
	repeats  repeats
	buf, out bytes.Buffer
}

// encodeYAML returns every resource as a YAML document: its bytes, when it
// still has them.
func encodeYAML(rs []*resource.Resource) ([][]byte, error) {
	all := findRepeats(rs)
	return encodeAll(rs, func() func(*resource.Resource) ([]byte, error) {
		return (&encoder{repeats: all}).document
	})
}

// encodeAll encodes every resource, on all cores; each goroutine asks for a
// function of its own. It returns the faults of all resources.
func encodeAll(rs []*resource.Resource, encoder func() func(*resource.Resource) ([]byte, error)) ([][]byte, error) {
	docs, errs := make([][]byte, len(rs)), make([]error, len(rs))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(rs)) {
		wg.Go(func() {
			f := encoder()
			for i := int(next.Add(1)) - 1; i < len(rs); i = int(next.Add(1)) - 1 {
				docs[i], errs[i] = f(rs[i])
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

func (e *encoder) document(r *resource.Resource) ([]byte, error) {
	if raw := r.Raw(); raw != nil {
		return raw, nil
	}
	doc, err := e.yaml(r.Node())
	if err != nil {
		return nil, r.Wrap(fmt.Errorf("cannot be written as YAML: %w", err), "")
	}
	return doc, nil
}

// yaml encodes n in the sequence style it was written in.
func (e *encoder) yaml(n *tree.Node) ([]byte, error) {
	style := styleOf(n)
	p := prepare{repeats: e.repeats}
	doc, err := e.encode(p.node(n, false), style)
	if err != nil || len(p.parts) == 0 {
		return bytes.Clone(doc), err
	}
	e.out.Reset()
	whole, err := expand(&e.out, doc, p.parts, style)
	if err != nil {
		return nil, err
	}
	if whole {
		return bytes.Clone(e.out.Bytes()), nil
	}
	doc, err = e.encode((&prepare{}).node(n, false), style)
	return bytes.Clone(doc), err
}

// encode returns the text of n, valid until the next call.
func (e *encoder) encode(n *tree.Node, style yaml.SequenceIndentStyle) ([]byte, error) {
	e.buf.Reset()
	err := yaml.NewEncoderWithOptions(&e.buf, &yaml.EncoderOptions{SeqIndent: style}).Encode(n)
	return e.buf.Bytes(), err
}

// Tree returns n, an object or a document, as one YAML document with compact
// lists. It is for those who write a wrapper around objects, such as a
// ResourceList.
func Tree(n *tree.Node) ([]byte, error) {
	return (&encoder{}).encode((&prepare{}).node(n, false), yaml.CompactSequenceStyle)
}
