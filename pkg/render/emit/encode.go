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

// encoder writes documents for one goroutine. yaml.v3 allocates some 400 KB
// per encoder, so one of each style serves many documents.
type encoder struct {
	buf    bytes.Buffer
	styles map[yaml.SequenceIndentStyle]*yaml.Encoder
}

// encodeAll encodes every resource with f, on all cores. It returns the faults
// of all resources.
func encodeAll(rs []*resource.Resource, f func(*encoder, *resource.Resource) ([]byte, error)) ([][]byte, error) {
	docs, errs := make([][]byte, len(rs)), make([]error, len(rs))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(rs)) {
		wg.Go(func() {
			e := &encoder{styles: map[yaml.SequenceIndentStyle]*yaml.Encoder{}}
			for i := int(next.Add(1)) - 1; i < len(rs); i = int(next.Add(1)) - 1 {
				docs[i], errs[i] = f(e, rs[i])
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

// yamlDocument returns the resource as a document of its own.
func yamlDocument(e *encoder, r *resource.Resource) ([]byte, error) {
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
	n, style := faithful(n, false), styleOf(n)
	enc := e.styles[style]
	if enc == nil {
		enc = yaml.NewEncoderWithOptions(&e.buf, &yaml.EncoderOptions{SeqIndent: style})
		e.styles[style] = enc
	}
	e.buf.Reset()
	if err := enc.Encode(n); err != nil {
		delete(e.styles, style)
		return nil, err
	}
	return bytes.Clone(bytes.TrimPrefix(e.buf.Bytes(), []byte("---\n"))), nil
}
