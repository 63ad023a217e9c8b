// Package emit writes resources out: as one YAML stream, as JSON, into a
// directory, as a kustomization. What nothing changed leaves as the bytes it
// came in; the rest is encoded on all cores and written in order. Nothing is
// written before everything is encoded, so an error leaves no partial output.
// An output holds no more bytes than the limit output-bytes allows, in every form.
//
// It only reads the trees of resources, which may share nodes.
package emit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Format is how objects are written.
type Format string

// The formats.
const (
	YAML Format = "yaml"
	JSON Format = "json"
)

// Stream writes the resources as one YAML stream. A document that came in
// with bytes and was not changed is those bytes; only what separates it from
// its neighbours is added: a missing line end, "---".
func Stream(w io.Writer, rs []*resource.Resource, limits stage.Limits) error {
	return Drain(w, slices.Clone(rs), limits)
}

// Drain is Stream for those who need the resources no more: the slots of rs are nil
// afterwards, and what they held is let go of while the text grows.
func Drain(w io.Writer, rs []*resource.Resource, limits stage.Limits) error {
	docs, err := encodeYAML(rs, limits)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	s := separator{first: true}
	for _, doc := range docs {
		if !s.first {
			doc = bytes.TrimPrefix(doc, bom)
		}
		// bufio keeps the first error for Flush.
		_, _ = out.WriteString(s.before(doc))
		_, _ = out.Write(doc)
	}
	return out.Flush()
}

var bom = []byte("\xef\xbb\xbf")

// separator knows how the stream ends so far.
type separator struct {
	first, open, closed bool
}

// before returns what must be between the stream so far and doc.
func (s *separator) before(doc []byte) string {
	first, sep := s.first, ""
	if s.open {
		sep = "\n"
	}
	switch {
	case first || s.closed || hasLine(doc, "---"):
	case bytes.HasPrefix(doc, []byte("%")):
		sep += "...\n"
	default:
		sep += "---\n"
	}
	s.first = false
	s.open = len(doc) > 0 && doc[len(doc)-1] != '\n'
	s.closed = hasLine(doc[1+bytes.LastIndexByte(bytes.TrimSuffix(doc, []byte("\n")), '\n'):], "...")
	return sep
}

// hasLine reports whether the first line of doc is the indicator mark.
func hasLine(doc []byte, mark string) bool {
	rest, ok := bytes.CutPrefix(doc, []byte(mark))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// indent is kubectl's.
const indent = "    "

// JSONStream writes one object as it is and any other number of them as the
// items of a v1 List, as kubectl does; keys are in alphabetical order.
func JSONStream(w io.Writer, rs []*resource.Resource, limits stage.Limits) error {
	level := 2
	if len(rs) == 1 {
		level = 0
	}
	docs, err := encodeJSON(slices.Clone(rs), limits, level)
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

// encodeJSON returns every resource as JSON, indented by level steps to the
// right.
func encodeJSON(rs []*resource.Resource, limits stage.Limits, level int) ([][]byte, error) {
	return encodeAll(rs, limits, jsonBytes(level), func(r *resource.Resource) ([]byte, error) { return jsonText(r, level) })
}

// jsonText returns the resource as JSON, indented by level steps to the right,
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

// Unless returns a writer on w that writes nothing when ctx has ended before. What has begun is written to its end: half of it would be
// worse than none.
func Unless(ctx context.Context, w io.Writer) io.Writer { return &unless{ctx: ctx, w: w} }

type unless struct {
	ctx   context.Context //nolint:containedctx // io.Writer has none
	begun bool
	w     io.Writer
}

func (u *unless) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil && !u.begun {
		return 0, err
	}
	u.begun = true
	return u.w.Write(p)
}
