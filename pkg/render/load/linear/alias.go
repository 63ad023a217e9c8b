package linear

import (
	"bytes"
	"errors"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// maxAliased is how many values the aliases of a whole build may add. Kustomize writes
// aliases out, whatever comes of them: more is for a process whose memory is bounded. A text
// counts as one value for each longText of its bytes.
const (
	maxAliased = 100_000
	longText   = 256
)

var errAliased = errors.New("YAML aliases add too many values")

// allowance is what aliases may still add to a build.
type allowance struct {
	left int
	// last is what was loaded last.
	last []byte
}

// admit fails when the aliases of a YAML text add more than is left.
func (a *allowance) admit(text []byte) error {
	a.last = text
	if !marked(text, '&') || !marked(text, '*') {
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc yaml.Node
		if dec.Decode(&doc) != nil {
			return nil //nolint:nilerr // its end, or no YAML: then aliases cannot be expanded
		}
		c := counter{sizes: map[*yaml.Node]int{}}
		c.size(&doc)
		if a.left -= c.added; a.left < 0 {
			return errAliased
		}
	}
}

// counter works out how large a document becomes without writing it out.
type counter struct {
	sizes map[*yaml.Node]int
	added int
}

// size is that of a value with its aliases written out; one that holds itself is too
// large for all.
func (c *counter) size(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		size := c.size(n.Alias)
		c.added = min(c.added+size, maxAliased+1)
		return size
	}
	if size, ok := c.sizes[n]; ok {
		return size
	}
	c.sizes[n] = maxAliased + 1
	size := 1 + len(n.Value)/longText
	for _, child := range n.Content {
		size = min(size+c.size(child), maxAliased+1)
	}
	c.sizes[n] = size
	return size
}

// marked reports whether a character is where an anchor or an alias may begin.
func marked(text []byte, mark byte) bool {
	for i := bytes.IndexByte(text, mark); i >= 0; {
		if i == 0 || bytes.IndexByte([]byte(" \t\r\n,[{:-?!"), text[i-1]) >= 0 {
			return true
		}
		next := bytes.IndexByte(text[i+1:], mark)
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}
