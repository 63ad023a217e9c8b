package linear

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/filters/replacement"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/kustomize/kyaml/yaml"
	k8syaml "sigs.k8s.io/yaml"
)

// A few kilobytes of kustomization can ask for gigabytes: a patch, a label or a replacement
// goes into thousands of objects. What a transformer may add is known beforehand, as a
// product, and counts against the room of the build. A build that needs more is for a
// process whose memory is bounded.

const (
	// maxAdded is what the transformers of a build may add, in bytes of memory, about.
	maxAdded = 128 << 20
	// valueBytes is what a value takes beside its text.
	valueBytes = 64
)

// ErrLarge is returned for a build that may need much more memory than its files.
var ErrLarge = errors.New("the kustomization multiplies too much")

// room is what a build may still add; a nil one is endless.
type room struct{ left int64 }

// admit counts n copies of so many bytes.
func (r *room) admit(bytes, n int64) error {
	switch {
	case r == nil || bytes <= 0 || n <= 0:
		return nil
	case bytes > r.left/n:
		return ErrLarge
	}
	r.left -= bytes * n
	return nil
}

// Values bounds the number of values in a YAML text: each begins or ends with one of
// these characters.
func Values(text []byte) (n int) {
	for _, c := range text {
		switch c {
		case ',', '\n', '\r', ':', '-', '[', '{', '?':
			n++
		}
	}
	return n
}

// memory is what a YAML text takes when it is parsed, about.
func memory(text []byte) int64 { return int64(len(text)) + valueBytes*int64(Values(text)) }

// weight is how much of the objects there is.
type weight struct{ bytes, values, maps int64 }

func (w *weight) add(n *yaml.Node) {
	w.values++
	w.bytes += int64(len(n.Value) + len(n.HeadComment) + len(n.LineComment) + len(n.FootComment))
	if n.Kind == yaml.MappingNode {
		w.maps++
	}
	if n.Alias != nil {
		w.add(n.Alias)
	}
	for _, child := range n.Content {
		w.add(child)
	}
}

func (w weight) memory() int64 { return w.bytes + valueBytes*w.values }

func weigh(entries []*entry) (w weight) {
	for _, e := range entries {
		if n := e.YNode(); n != nil {
			w.add(n)
		}
	}
	return w
}

// admitNames counts what is written into names, namespaces and images, and into references
// to them: into any value, at the most.
func (l *layer) admitNames(objects *set) error {
	k := l.kustomization
	texts := []string{k.NamePrefix, k.NameSuffix, k.Namespace}
	for _, i := range k.Images {
		texts = append(texts, i.NewName, i.NewTag, i.Digest, i.TagSuffix)
	}
	all := strings.Join(texts, "")
	if l.room == nil || all == "" {
		return nil
	}
	w := weigh(objects.entries)
	if err := l.room.admit(valueBytes, int64(len(objects.entries))); err != nil {
		return err
	}
	return l.room.admit(int64(len(all)), w.values)
}

// admitPairs counts labels and annotations, which go into any mapping, at the most.
func (l *layer) admitPairs(objects *set) error {
	k := l.kustomization
	pairs := []map[string]string{k.CommonLabels, k.CommonAnnotations} //nolint:staticcheck // what is deprecated is still built
	for _, label := range k.Labels {
		pairs = append(pairs, label.Pairs)
	}
	size := int64(0)
	for _, p := range pairs {
		for key, value := range p {
			size += int64(len(key)+len(value)) + 2*valueBytes
		}
	}
	if l.room == nil || size == 0 {
		return nil
	}
	return l.room.admit(size, weigh(objects.entries).maps)
}

// admitPatch counts a patch whose text is in a kustomization or in a file, and which n
// objects get.
func (l *layer) admitPatch(config []byte, n int) error {
	if l.room == nil {
		return nil
	}
	file := l.folder.aliases.last
	if copies(config) || copies(file) {
		return ErrLarge // each of them may double an object
	}
	return l.room.admit(memory(config)+memory(file), int64(n))
}

// copies reports whether a text is a JSON patch that copies, or holds one.
func copies(text []byte) bool {
	if !bytes.Contains(text, []byte("op")) && !bytes.Contains(text, []byte(`\`)) {
		return false
	}
	var config struct{ Patch, JSONOp string }
	if k8syaml.Unmarshal(text, &config) == nil && (config.Patch != "" || config.JSONOp != "") {
		return copies([]byte(config.Patch)) || copies([]byte(config.JSONOp))
	}
	var steps []map[string]any
	if k8syaml.Unmarshal(text, &steps) != nil {
		return false
	}
	for _, s := range steps {
		if s["op"] == "copy" {
			return true
		}
	}
	return false
}

// filterRecorder takes the filter that a plugin would run.
type filterRecorder struct {
	resmap.ResMap
	filter kio.Filter
}

// ApplyFilter keeps the filter.
func (c *filterRecorder) ApplyFilter(f kio.Filter) error {
	c.filter = f
	return nil
}

// replaceStepwise runs replacements one after the other, as their plugin does, each once
// there is room for what it copies: it may copy what the one before it made.
func (l *layer) replaceStepwise(p resmap.Transformer, objects *set) error {
	var c filterRecorder
	if err := p.Transform(&c); err != nil {
		return err
	}
	whole, ok := c.filter.(replacement.Filter)
	if !ok {
		return errUnfit
	}
	nodes := objects.nodes()
	for _, r := range whole.Replacements {
		if err := l.admitReplacement(r, objects); err != nil {
			return err
		}
		if err := objects.filter(replacement.Filter{Replacements: []types.Replacement{r}}, nodes); err != nil {
			return err
		}
	}
	objects.DropEmpties()
	return nil
}

func (l *layer) admitReplacement(r types.Replacement, objects *set) error {
	if l.room == nil {
		return nil
	}
	size := int64(valueBytes)
	if r.SourceValue != nil {
		size += int64(len(*r.SourceValue))
	}
	for _, e := range objects.entries {
		if r.Source == nil || r.Source.Kind != "" && e.GetKind() != r.Source.Kind || r.Source.Name != "" && e.GetName() != r.Source.Name && !formerly(e, r.Source.Name) {
			continue
		}
		size = max(size, weigh([]*entry{e}).memory())
	}
	for _, target := range r.Targets {
		if target == nil || target.Select == nil {
			continue
		}
		hit := objects.meantBy(*target.Select)
		for _, path := range target.FieldPaths {
			places := int64(len(hit))
			if strings.ContainsAny(path, "*[") {
				places = weigh(hit).values
			}
			if err := l.room.admit(size, places); err != nil {
				return err
			}
		}
	}
	return nil
}

// formerly reports whether an object had a name.
func formerly(e *entry, name string) bool {
	return slices.ContainsFunc(e.PrevIds(), func(id resid.ResId) bool { return id.Name == name })
}

// meantBy are the objects that a selector may mean, by their kinds; all where it cannot be
// understood.
func (s *set) meantBy(target types.Selector) (out []*entry) {
	kind, err := regexp.Compile("^(?:" + target.Kind + ")$")
	if target.Kind == "" || err != nil {
		return s.entries
	}
	for _, e := range s.entries {
		if kind.MatchString(e.GetKind()) || slices.ContainsFunc(e.PrevIds(), func(id resid.ResId) bool { return kind.MatchString(id.Kind) }) {
			out = append(out, e)
		}
	}
	return out
}

// admitPrinted holds the text of all objects against the bound.
func (r *room) admitPrinted(objects *set) error {
	if r != nil && weigh(objects.entries).bytes > 2*maxAdded {
		return ErrLarge
	}
	return nil
}
