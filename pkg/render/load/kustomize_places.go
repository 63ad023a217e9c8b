package load

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/linear"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// This file finds where what kustomize has built is written: an object in the file that kustomize
// has read it from, and a value in the patch that has it, or else in that file. It looks only at what the
// build has read, and changes nothing of what was built.

// buildPlaces are where the objects of a build are written.
type buildPlaces struct {
	job     job
	texts   []textFile
	layers  []layerFile
	patches []patchDocument
	// read are the objects of files, by kind.
	read map[string][]*readObject
	// sources are those of the objects of the build, in their order.
	sources []linear.Source
	// objects are those of the build, in order of their numbers.
	objects []*builtObject
}

// filePlace is a line of a file; 0 is not known.
type filePlace struct {
	file string
	line int
}

// readObject is an object of a file.
type readObject struct {
	file string
	doc  document
	// item is the place of the object in the List that the document is, -1 for none.
	item int
	id   resource.ID
	line int
}

// newPlaces prepares what was built from the files that d has read.
func (j job) newPlaces(d *disk, sources []linear.Source) *buildPlaces {
	layers := d.kustomizations()
	return &buildPlaces{job: j, texts: d.texts, layers: layers, patches: d.findPatches(layers), sources: sources}
}

// place connects the documents of the text that was built with their places.
func (p *buildPlaces) place(docs []document) {
	p.read = p.readObjects()
	known := len(p.sources) == len(docs)
	start := resource.FirstNumber
	for i := range docs {
		o := &builtObject{all: p, doc: docs[i], start: start}
		if known {
			o.source = p.sources[i]
		}
		p.objects = append(p.objects, o)
		docs[i].built, docs[i].file = o, p.job.file()
		start += len(docs[i].raw) + 1 // a value has a byte, at least
	}
}

// Place returns the place of the value with a number.
func (p *buildPlaces) Place(number int) (file string, line int) {
	i, found := slices.BinarySearchFunc(p.objects, number, func(o *builtObject, n int) int { return o.start - n })
	if !found {
		i--
	}
	if i < 0 {
		return p.job.file(), 0
	}
	at := p.objects[i].place(number)
	return at.file, at.line
}

// readObjects are the objects of all files but kustomizations and patches.
func (p *buildPlaces) readObjects() map[string][]*readObject {
	other := map[string]bool{}
	for _, patch := range p.patches {
		other[patch.file] = true
	}
	for _, k := range p.layers {
		other[k.file] = true
	}
	var docs []document
	for _, t := range p.texts {
		if !other[t.name] {
			other[t.name] = true // once
			all, err := split(t.name, t.body, defaultMaxObjects)
			if err == nil {
				docs = append(docs, all...)
			}
		}
	}
	found := make([][]*readObject, len(docs))
	_, _ = each(context.Background(), len(docs), func(i int) error {
		found[i] = objectsOf(docs[i])
		return nil
	})
	out := map[string][]*readObject{}
	for _, list := range found {
		for _, o := range list {
			out[o.id.Kind] = append(out[o.id.Kind], o)
		}
	}
	return out
}

// objectsOf are the objects of a document, none where it cannot be read.
func objectsOf(d document) (out []*readObject) {
	root := d.root()
	if !tree.IsMap(root) {
		return nil
	}
	add := func(n *tree.Node, item int) {
		id := resource.Parsed(n, nil, resource.Origin{}).ID()
		if id.Kind != "" {
			out = append(out, &readObject{file: d.file, doc: d, item: item, id: id, line: n.Line})
		}
	}
	if !isList(root) {
		add(root, -1)
		return out
	}
	for i, item := range tree.Items(tree.Get(root, "items")) {
		add(item, i)
	}
	return out
}

// root reads the object again.
func (o *readObject) root() *tree.Node {
	root := o.doc.root()
	if o.item < 0 {
		return root
	}
	if items := tree.Items(tree.Get(root, "items")); o.item < len(items) {
		return items[o.item]
	}
	return nil
}

// builtObject is an object of what was built.
type builtObject struct {
	all *buildPlaces
	doc document
	// start is the number of the object; its values follow, each before what is in it.
	start  int
	source linear.Source
	// id is that of the object, names all that it was called, as far as that is known.
	id    resource.ID
	names []string
	// base is what it was read from, nil for none.
	base *readObject
	at   filePlace
	// values are the places of its values by their numbers, once one was asked for.
	values []filePlace
	once   sync.Once
}

// origin numbers the values of the object, and returns where it is written.
func (o *builtObject) origin(root *tree.Node) resource.Origin {
	next := o.start
	number(root, &next)
	o.id = resource.Parsed(root, nil, resource.Origin{}).ID()
	o.names = append(slices.Clone(o.source.Names), o.id.Name)
	if o.base = o.findBase(); o.base != nil {
		o.names = append(o.names, o.base.id.Name)
	}
	switch {
	case o.base != nil:
		o.at = filePlace{o.all.job.displayPath(o.base.file), o.base.line}
	case o.source.File != "" && o.source.Generator == "":
		o.at = filePlace{o.all.job.displayPath(o.source.File), 0}
	default:
		o.at = o.generator()
	}
	return resource.Origin{File: o.at.file, Line: o.at.line, Built: o.all}
}

// number gives a value and all in it numbers for lines. Keys may be shared between documents where
// they have no line.
func number(n *tree.Node, next *int) {
	n.Line = *next
	*next++
	for i, child := range n.Content {
		if tree.IsMap(n) && i%2 == 0 {
			if child.Line != 0 {
				child.Line = *next // that of its value
			}
			continue
		}
		number(child, next)
	}
}

// findBase finds the object of a file. Kustomize records the file; the name there is part of the
// name now.
func (o *builtObject) findBase() (best *readObject) {
	if o.source.Generator != "" {
		return nil
	}
	most := 0
	for _, r := range o.all.read[o.id.Kind] {
		if r.id.Group != o.id.Group || o.source.File != "" && r.file != o.source.File {
			continue
		}
		score := o.likeness(r.id.Name)
		if score > 0 && r.id.Namespace == o.id.Namespace {
			score++
		}
		if score > most {
			best, most = r, score
		}
	}
	return best
}

// likeness is how well a name fits the object: the first of its names best, then a longer part of
// its present one; 0 is not at all.
func (o *builtObject) likeness(name string) int {
	const perfect = 10_000
	switch i := slices.Index(o.names, name); {
	case i >= 0:
		return perfect - 2*min(i, perfect/4)
	case name != "" && strings.Contains(o.id.Name, name):
		return 2 * len(name)
	}
	return 0
}

// generator is where the object is generated: an entry of a kustomization, or the configuration of
// a plugin. Where there is none, it is the kustomization that was named.
func (o *builtObject) generator() filePlace {
	best, most := filePlace{o.all.job.file(), 0}, 0
	if o.source.File != "" {
		best.file = o.all.job.displayPath(o.source.File)
	}
	take := func(file string, entry *tree.Node, name string) {
		if score := o.likeness(name); score > most {
			best, most = filePlace{o.all.job.displayPath(file), entry.Line}, score
		}
	}
	for _, k := range o.all.layers {
		if o.source.File != "" && o.source.File != k.file {
			continue
		}
		for _, entry := range tree.Items(tree.Get(k.root, map[string]string{"ConfigMap": "configMapGenerator", "Secret": "secretGenerator"}[o.id.Kind])) {
			take(k.file, entry, tree.StrAt(entry, "name"))
		}
	}
	for _, r := range o.all.read[o.id.Kind+"Generator"] {
		if root := r.root(); root != nil && (o.source.File == "" || o.source.File == r.file) {
			take(r.file, root, r.id.Name)
		}
	}
	return best
}

// place is that of the value with a number, of the object where it has none.
func (o *builtObject) place(number int) filePlace {
	if number == o.start {
		return o.at
	}
	o.once.Do(o.locate)
	if i := number - o.start; i < len(o.values) {
		return o.values[i]
	}
	return o.at
}

// written is a value as a file has it: lines is what is added to its line.
type written struct {
	node  *tree.Node
	file  string
	lines int
	// whole: it takes the place of what other files have there.
	whole bool
}

func (w written) place() filePlace { return filePlace{w.file, w.node.Line + w.lines} }

// locate finds the places of all values.
func (o *builtObject) locate() {
	root := o.doc.root()
	if root == nil {
		return
	}
	w := valueWalk{at: map[*tree.Node][]written{}}
	var from []written
	for _, p := range o.all.patches {
		if !o.patchedBy(p) {
			continue
		}
		file := o.all.job.displayPath(p.file)
		if tree.IsSeq(p.root) {
			w.addOperations(root, p, file)
			continue
		}
		from = append(from, written{node: p.root, file: file, lines: p.lines})
	}
	if o.base != nil {
		if base := o.base.root(); base != nil {
			from = append(from, written{node: base, file: o.all.job.displayPath(o.base.file)})
		}
	}
	w.value(root, from, o.at)
	o.values = w.found
}

// patchedBy reports whether a patch may be for the object. Whether it has set a value is seen from
// the value.
func (o *builtObject) patchedBy(p patchDocument) bool {
	if p.target != nil {
		return matchesWhole(tree.StrAt(p.target, "kind"), o.id.Kind) &&
			slices.ContainsFunc(o.names, func(name string) bool { return matchesWhole(tree.StrAt(p.target, "name"), name) })
	}
	between := o.base != nil && strings.Contains(o.id.Name, p.name) && strings.Contains(p.name, o.base.id.Name)
	return p.kind == o.id.Kind && (between || slices.Contains(o.names, p.name))
}

// matchesWhole reports whether a pattern of a target, of which an empty one means all, matches.
func matchesWhole(pattern, text string) bool {
	if pattern == "" {
		return true
	}
	is, err := regexp.Compile("^(?:" + pattern + ")$")
	return err == nil && is.MatchString(text)
}

// valueWalk goes through the values of an object in the order of their numbers.
type valueWalk struct {
	// at are the values that operations of JSON patches have put in.
	at    map[*tree.Node][]written
	found []filePlace
}

// value notes the place of a value and of what is in it. Of those in from, where patches come first,
// the last that has the same text counts, else the last.
func (w *valueWalk) value(n *tree.Node, from []written, outer filePlace) {
	if put := w.at[n]; len(put) > 0 {
		if from = slices.Concat(put, from); put[0].whole {
			from = put
		}
	}
	here := outer
	if len(from) > 0 {
		here = from[len(from)-1].place()
		for _, f := range from {
			if tree.IsScalar(n) && tree.Equal(f.node, n) {
				here = f.place()
			}
		}
	}
	w.found = append(w.found, here)
	switch {
	case tree.IsMap(n):
		tree.Each(n, func(key, child *tree.Node) {
			w.value(child, below(from, func(f *tree.Node) *tree.Node { return valueOf(f, key.Value) }), here)
		})
	case tree.IsSeq(n):
		for i, child := range n.Content {
			w.value(child, below(from, func(f *tree.Node) *tree.Node { return sameItem(n, i, f) }), here)
		}
	}
}

// below are the values that step leads to.
func below(from []written, step func(*tree.Node) *tree.Node) (out []written) {
	for _, f := range from {
		if n := step(f.node); n != nil {
			out = append(out, written{node: n, file: f.file, lines: f.lines})
		}
	}
	return out
}

func valueOf(n *tree.Node, key string) (found *tree.Node) {
	tree.Each(n, func(k, v *tree.Node) {
		if k.Value == key {
			found = v
		}
	})
	return found
}

// itemKeys are the fields that name items of lists.
var itemKeys = []string{"name", "containerPort", "port", "mountPath", "devicePath", "key", "topologyKey", "ip", "type"}

// sameItem is the item of another list that item i of a list is: one with the same name or the same
// content, or the one at the same place of a list of the same length.
func sameItem(list *tree.Node, i int, other *tree.Node) *tree.Node {
	if !tree.IsSeq(other) {
		return nil
	}
	item := list.Content[i]
	same := func(o *tree.Node) bool { return tree.Equal(o, item) }
	for _, key := range itemKeys {
		if name := valueOf(item, key); tree.IsScalar(name) {
			same = func(o *tree.Node) bool { v := valueOf(o, key); return v != nil && tree.Equal(v, name) }
			break
		}
	}
	if at := slices.IndexFunc(other.Content, same); at >= 0 {
		return other.Content[at]
	}
	if len(other.Content) == len(list.Content) {
		return other.Content[i]
	}
	return nil
}

// addOperations notes what the operations of a JSON patch have put into an object.
func (w *valueWalk) addOperations(root *tree.Node, p patchDocument, file string) {
	for _, op := range tree.Items(p.root) {
		value := valueOf(op, "value")
		name := tree.StrAt(op, "op")
		if value == nil || name != "add" && name != "replace" {
			continue
		}
		if n := pointed(root, tree.PointerSteps(tree.StrAt(op, "path")), value); n != nil {
			put := written{node: value, file: file, lines: p.lines, whole: tree.Equal(value, n)}
			w.at[n] = append([]written{put}, w.at[n]...)
		}
	}
}

// pointed is what a JSON pointer leads to. Later operations may have moved items: the one with the
// value comes first.
func pointed(n *tree.Node, steps []string, value *tree.Node) *tree.Node {
	for i, step := range steps {
		if !tree.IsSeq(n) {
			n = valueOf(n, step)
			continue
		}
		if i == len(steps)-1 {
			if at := slices.IndexFunc(n.Content, func(o *tree.Node) bool { return tree.Equal(o, value) }); at >= 0 {
				return n.Content[at]
			}
		}
		at, err := strconv.Atoi(step)
		if err != nil {
			at = len(n.Content) - 1 // "-"
		}
		if at < 0 || at >= len(n.Content) {
			return nil
		}
		n = n.Content[at]
	}
	return n
}
