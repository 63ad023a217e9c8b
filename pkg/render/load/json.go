package load

import (
	"bytes"
	"encoding/json"
	"regexp"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// splitJSON takes a document that is JSON, or several JSON values one after the
// other, apart; any other document stays as it is. JSON is nearly a part of
// YAML, but YAML readers disagree with it on surrogate pairs in \u escapes,
// and what the engine changes of it is better written in block style. Of more values
// than may be, the first ones are returned, one more than that.
func splitJSON(d document, most int) []document {
	body := d.text[len(bareMarker.Find(d.text)):]
	ends := jsonEnds(body, most)
	if ends == nil {
		return []document{d}
	}
	before := len(d.raw) - len(body)
	first := d.line + lineOf(d.text, len(d.text)-len(body)) - 1
	docs := make([]document, len(ends))
	from, rawFrom, at := 0, 0, first
	for i, to := range ends {
		rawTo := before + to
		if i == len(ends)-1 {
			rawTo = len(d.raw)
		}
		docs[i] = document{
			file: d.file, json: true, raw: d.raw[rawFrom:rawTo:rawTo],
			text: body[from:to], line: at,
		}
		at += bytes.Count(body[from:to], []byte{'\n'})
		from, rawFrom = to, rawTo
	}
	return docs
}

// bareMarker is a line --- before the content.
var bareMarker = regexp.MustCompile(`^---[ \t]*\r?\n`)

// jsonEnds returns where each JSON value of text ends, nil when text is
// anything else than JSON objects and arrays. It stops behind more values than most.
func jsonEnds(text []byte, most int) []int {
	head := bytes.TrimLeft(text, " \t\r\n")
	if len(head) == 0 || head[0] != '{' && head[0] != '[' {
		return nil
	}
	var ends []int
	dec := json.NewDecoder(bytes.NewReader(text))
	for len(ends) <= most && dec.More() {
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return nil
		}
		ends = append(ends, int(dec.InputOffset()))
	}
	if len(ends) > most {
		return ends
	}
	if rest := text[dec.InputOffset():]; len(bytes.TrimSpace(rest)) > 0 {
		return nil
	}
	return ends
}

// jsonNode reads valid JSON into nodes with their lines, from 1.
func jsonNode(text []byte) (*tree.Node, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	r := &jsonReader{text: text, dec: dec, line: 1}
	return r.value()
}

type jsonReader struct {
	text     []byte
	dec      *json.Decoder
	at, line int
}

func (r *jsonReader) token() (json.Token, error) {
	t, err := r.dec.Token()
	to := int(r.dec.InputOffset())
	r.line += bytes.Count(r.text[r.at:to], []byte{'\n'})
	r.at = to
	return t, err
}

func (r *jsonReader) value() (*tree.Node, error) {
	t, err := r.token()
	if err != nil {
		return nil, err
	}
	line := r.line
	n := tree.Null()
	switch t := t.(type) {
	case json.Delim:
		n, err = r.children(t)
	case string:
		n = tree.String(t)
	case bool:
		n = tree.Boolean(t)
	case json.Number:
		n = &tree.Node{Kind: yaml.ScalarNode, Value: t.String()}
		n.Tag = n.ShortTag()
	}
	if n != nil {
		n.Line = line
	}
	return n, err
}

// children reads to the end of an object or array that is open.
func (r *jsonReader) children(open json.Delim) (*tree.Node, error) {
	n := tree.Seq()
	if open == '{' {
		n = tree.Map()
	}
	for r.dec.More() {
		child, err := r.value()
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, child)
	}
	_, err := r.token()
	return n, err
}
