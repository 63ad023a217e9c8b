package load

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// oddBreaks reports whether text has characters that YAML takes for the end of a
// line and that split, which knows only LF, does not.
func oddBreaks(text []byte) bool {
	for _, mark := range []string{"\u0085", "\u2028", "\u2029"} {
		if bytes.Contains(text, []byte(mark)) {
			return true
		}
	}
	for i := bytes.IndexByte(text, '\r'); i >= 0 && i+1 < len(text); {
		if text[i+1] != '\n' {
			return true
		}
		next := bytes.IndexByte(text[i+1:], '\r')
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}

// checkSingle refuses a text in which odd line breaks hide a second document.
func (d document) checkSingle() error {
	dec := yaml.NewDecoder(bytes.NewReader(d.text))
	var n tree.Node
	if err := dec.Decode(&n); err != nil {
		return d.syntaxError(err)
	}
	err := dec.Decode(&n)
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return d.syntaxError(err)
	}
	return d.fault(d.line, "end all lines with LF or CRLF", "a document begins behind a line break that is not an LF")
}

var yamlError = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// syntaxError turns the YAML parser's complaint into a fault with the line in the
// file and, where the cause is plain to see, a hint.
func (d document) syntaxError(err error) error {
	msg, at := err.Error(), 1
	if m := yamlError.FindStringSubmatch(msg); m != nil {
		msg = m[2]
		at, _ = strconv.Atoi("0" + m[1])
	}
	if strings.HasPrefix(msg, unknownAnchor) {
		msg = unknownAnchor // without its name: it may be a password that begins with *
	}
	if exact := d.syntaxErrorLine(); exact > 0 {
		at = exact
	}
	at = max(at, 1)
	return d.fault(d.line+at-1, hint(msg, lineAt(d.text, at)), "the YAML is broken: %s", redact.Message(msg, nil))
}

// syntaxErrorLine finds the line that breaks the text: the first one behind the
// longest beginning of the text that can be read. The parser's own number is
// that of the enclosing mapping, or one too small. 0 means not found nearby. A large text
// is not read again and again for that.
func (d document) syntaxErrorLine() int {
	if len(d.text) > maxReread {
		return 0
	}
	feed := &lineReader{rest: d.text}
	for dec := yaml.NewDecoder(feed); ; {
		var n tree.Node
		if dec.Decode(&n) != nil {
			break
		}
	}
	ends := feed.ends
	for i := len(ends) - 1; i >= max(0, len(ends)-searchedLines); i-- {
		begin := 0
		if i > 0 {
			begin = ends[i-1]
		}
		if readable(d.text[:begin]) {
			return i + 1
		}
	}
	return 0
}

func readable(text []byte) bool {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var n tree.Node
		if err := dec.Decode(&n); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// searchedLines is how many lines before the end of what the parser has read the
// cause is looked for.
const searchedLines = 40

// maxReread is how long a text may be in which it is looked for.
const maxReread = 1 << 20

// lineReader hands out one line at a time and remembers where they end.
type lineReader struct {
	rest []byte
	ends []int
}

func (r *lineReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	end := len(r.rest)
	if i := bytes.IndexByte(r.rest, '\n'); i >= 0 {
		end = i + 1
	}
	n := copy(p, r.rest[:end])
	last := 0
	if len(r.ends) > 0 {
		last = r.ends[len(r.ends)-1]
	}
	r.ends = append(r.ends, last+n)
	r.rest = r.rest[n:]
	return n, nil
}

func lineAt(text []byte, n int) string {
	for ; n > 1; n-- {
		i := bytes.IndexByte(text, '\n')
		if i < 0 {
			return ""
		}
		text = text[i+1:]
	}
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	return string(text)
}

// hint reads the cause off the line and the parser's words.
func hint(msg, line string) string {
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	switch {
	case strings.Contains(indent, "\t"):
		return "indent with spaces: the line begins with a tab"
	case template(line) != "":
		return template(line)
	}
	for _, h := range hints {
		if strings.Contains(msg, h.msg) {
			return h.hint
		}
	}
	return ""
}

func template(line string) string {
	if strings.Contains(line, "{{") {
		return "this looks like a template: render it first"
	}
	return ""
}

const unknownAnchor = "unknown anchor"

var hints = []struct{ msg, hint string }{
	{"mapping values are not allowed", "put the value in quotes, or mend the indentation"},
	{"did not find expected key", "mend the indentation of this line"},
	{"did not find expected '-' indicator", "mend the indentation of this line"},
	{"could not find expected ':'", "a key needs a colon and a space behind it"},
	{"found unexpected end of stream", "close the quotation that begins here"},
	{"did not find expected ',' or", "close the bracket"},
	{"did not find expected <document start>", "mend the indentation of this line, or put --- before a new document"},
	{unknownAnchor, "quote a text that begins with *; an anchor must be defined before its alias, in the same document"},
	{"cannot start any token", "put the value in quotes"},
	{"found unknown escape character", "in double quotes a backslash is written twice"},
	{"did not find expected hexdecimal number", "in double quotes a backslash is written twice"},
	{"control characters are not allowed", "remove the control character, or write it as an escape in double quotes"},
}
