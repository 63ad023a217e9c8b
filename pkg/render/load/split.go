package load

import (
	"bytes"
	"errors"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// maxFaults bounds the faults that one file is cut with.
const maxFaults = 100

// split cuts b into documents without parsing it. The raws of the documents, one after the other,
// are b again, unless there is no document at all. It can go by lines because YAML allows "---"
// and "..." at the start of a line nowhere but between documents. It stops after more documents
// than the limit: the caller, which counts those of all files, reports that.
func split(name string, b []byte, most int) ([]document, error) {
	s := &splitter{name: name, b: b, line: 1, textLine: 1, most: most}
	var errs resource.Errors
	for at := 0; at < len(b) && len(errs) < maxFaults; s.line++ {
		end := len(b)
		if i := bytes.IndexByte(b[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		text := b[at:end]
		if at == 0 {
			text = bytes.TrimPrefix(text, bom)
		}
		errs.Add(s.next(at, end, text))
		if len(s.docs) > most {
			return s.docs, errs.Err()
		}
		at = end
	}
	s.close(len(b), s.line)
	if n := len(s.docs); n > 0 {
		s.docs[n-1].raw = b[len(b)-s.pending-len(s.docs[n-1].raw):]
	}
	return s.docs, errs.Err()
}

var bom = []byte("\xef\xbb\xbf")

// splitter is at the start of a line.
type splitter struct {
	name string
	b    []byte
	line int
	docs []document
	// most is how many documents there may be.
	most int

	// pending is how many bytes before start no document has yet: documents
	// without content. start is where the present one begins, text and textLine
	// where the parser begins: behind directives, of which it knows no 1.2.
	pending, start, text, textLine int
	// directed is set behind a directive, marked behind "---", content once
	// there is more than comments.
	directed, marked, content bool
}

func (s *splitter) next(at, end int, text []byte) error {
	kind := kindOf(text)
	if kind == marker && (s.marked || s.content) {
		s.close(at, s.line)
	}
	switch kind {
	case blank:
	case finish:
		s.close(end, s.line+1)
	case directive:
		if s.content || s.marked {
			break
		}
		return s.directive(text)
	case marker:
		if s.directed {
			s.text, s.textLine = at, s.line
		}
		s.marked = true
		s.content = kindOf(text[len("---"):]) != blank
	case content:
		s.content = true
	}
	return nil
}

var errDirective = errors.New("only the directives %YAML 1.1 and %YAML 1.2 are understood")

func (s *splitter) directive(text []byte) error {
	f := bytes.Fields(text)
	s.directed = true
	if len(f) >= 2 && string(f[0]) == "%YAML" && (string(f[1]) == "1.1" || string(f[1]) == "1.2") {
		return nil
	}
	return &resource.Error{File: s.name, Line: s.line, Err: errDirective, Hint: "remove the line: Kubernetes tools know no directives"}
}

// close ends the document before byte end. One without content is kept with
// the bytes of the next, or, when nothing follows, of the one before.
func (s *splitter) close(end, nextLine int) {
	if s.content {
		text := s.b[s.text:end]
		if s.text == 0 {
			text = bytes.TrimPrefix(text, bom)
		}
		raw := s.b[s.start-s.pending : end : end]
		s.docs = append(s.docs, splitJSON(document{file: s.name, raw: raw, text: text, line: s.textLine}, s.most-len(s.docs))...)
		s.pending = 0
	} else {
		s.pending += end - s.start
	}
	s.start, s.text, s.textLine = end, end, nextLine
	s.directed, s.marked, s.content = false, false, false
}

// lineKind is what a line means for documents.
type lineKind int

const (
	blank     lineKind = iota // nothing, or a comment
	marker                    // ---
	finish                    // ...
	directive                 // %YAML
	content
)

func kindOf(text []byte) lineKind {
	switch {
	case limit(text, "---"):
		return marker
	case limit(text, "..."):
		return finish
	case bytes.HasPrefix(text, []byte("%")):
		return directive
	}
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) == 0 || text[0] == '#' {
		return blank
	}
	return content
}

// limit reports whether the line begins with the word mark.
func limit(text []byte, mark string) bool {
	rest, ok := bytes.CutPrefix(text, []byte(mark))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}
