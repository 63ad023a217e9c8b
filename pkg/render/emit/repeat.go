package emit

import (
	"bytes"
	"strconv"
	"sync"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// repeats are the elements of lists that stand in more than one place of the
// output as the very same node: what a SidecarSet puts into every pod template.
// They are encoded once, and their lines are copied to each place. That takes
// most of the work off large renders.
type repeats map[*tree.Node]*repeat

// worthwhile is the number of nodes from which copying pays.
const worthwhile = 4

// findRepeats looks through all trees that will be encoded.
func findRepeats(rs []*resource.Resource) repeats {
	seen := map[*tree.Node]int{}
	for _, r := range rs {
		if r.Raw() == nil {
			countElements(seen, r.Node())
		}
	}
	found := repeats{}
	for n, count := range seen {
		if count > 1 && plain(n) {
			found[n] = &repeat{node: n}
		}
	}
	return found
}

func countElements(seen map[*tree.Node]int, n *tree.Node) {
	if n == nil || n.Style&yaml.FlowStyle != 0 {
		return
	}
	for _, child := range n.Content {
		if n.Kind == yaml.SequenceNode && child.Kind == yaml.MappingNode && len(child.Content) > 0 {
			if seen[child]++; seen[child] > 1 {
				continue
			}
		}
		countElements(seen, child)
	}
}

// plain reports whether the lines of n are the same wherever it stands, and
// worth copying. Comments at its edges mix with those of its neighbours.
func plain(n *tree.Node) bool {
	if n.Style&yaml.FlowStyle != 0 || n.HeadComment != "" || n.LineComment != "" {
		return false
	}
	count, ok := edgeless(n)
	return ok && count >= worthwhile
}

func edgeless(n *tree.Node) (count int, ok bool) {
	if n.FootComment != "" {
		return 0, false
	}
	count = 1
	for _, c := range n.Content {
		k, ok := edgeless(c)
		if !ok {
			return 0, false
		}
		count += k
	}
	return count, true
}

// repeat is one such element. Its text is made when first asked for, in each
// sequence style.
type repeat struct {
	node          *tree.Node
	compact, wide repeatText
}

type repeatText struct {
	once sync.Once
	// lines is the element as the only one of a list at the first column.
	lines []byte
	err   error
}

func (r *repeat) text(style yaml.SequenceIndentStyle) ([]byte, error) {
	t := &r.compact
	if style == yaml.WideSequenceStyle {
		t = &r.wide
	}
	t.once.Do(func() {
		p := prepare{}
		var b bytes.Buffer
		enc := yaml.NewEncoderWithOptions(&b, &yaml.EncoderOptions{SeqIndent: style})
		t.err = enc.Encode(p.node(tree.Seq(r.node), false))
		t.lines = b.Bytes()
	})
	return t.lines, t.err
}

// mark begins and ends a placeholder. It is of a private use area; a document
// that holds it all the same is encoded in the ordinary way.
const mark = "\ue0b7\ue0c1"

func (r *repeat) placeholder(i int) *tree.Node {
	return &tree.Node{Kind: yaml.ScalarNode, Tag: yaml.NodeTagString, Value: mark + strconv.Itoa(i) + mark}
}

// expand writes doc to out with its placeholders replaced, and reports whether
// it holds exactly one line for each of parts, in order.
func expand(out *bytes.Buffer, doc []byte, parts []*repeat, style yaml.SequenceIndentStyle) (whole bool, err error) {
	for i, r := range parts {
		line := []byte("- " + mark + strconv.Itoa(i) + mark + "\n")
		at := bytes.Index(doc, line)
		if at < 0 {
			return false, nil
		}
		begin := 1 + bytes.LastIndexByte(doc[:at], '\n')
		if bytes.Contains(doc[:at], []byte(mark)) || len(bytes.Trim(doc[begin:at], " -")) > 0 {
			return false, nil
		}
		text, err := r.text(style)
		if err != nil {
			return false, err
		}
		out.Write(doc[:at])
		indentLines(out, text, at-begin)
		doc = doc[at+len(line):]
	}
	out.Write(doc)
	return !bytes.Contains(doc, []byte(mark)), nil
}

// indentLines writes text with all lines but the first moved to the right;
// empty lines, which stand in block scalars, stay empty.
func indentLines(out *bytes.Buffer, text []byte, by int) {
	for first := true; len(text) > 0; first = false {
		end := 1 + bytes.IndexByte(text, '\n')
		if !first && end > 1 {
			for range by {
				out.WriteByte(' ')
			}
		}
		out.Write(text[:end])
		text = text[end:]
	}
}
