// Package resource is what travels through the rendering pipeline: one
// Kubernetes object with the place it came from, and the facts that all stages
// share. It knows no stage, no file system and no cluster.
package resource

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Origin is where an object came from.
type Origin struct {
	// File is the path as the user gave it, "-" for stdin, "" when the engine
	// made the object.
	File string
	// Line is the first line of the object in File, from 1.
	Line int
	// Seq orders all objects of the input, from 0. What an object becomes keeps
	// its Seq.
	Seq int
	// Built has the places of the values of an object that was built from several files, nil for
	// others.
	Built Places
}

// FirstNumber and what follows are no lines of files, but the numbers of values that were built.
const FirstNumber = 1 << 30

// Places are where values that were built are written.
type Places interface {
	// Place returns the file and the line of the value with this number.
	Place(number int) (file string, line int)
}

// At returns the file and the line of a node of the object, by its line; 0 is the object.
func (o Origin) At(line int) (file string, at int) {
	switch numbered := line >= FirstNumber; {
	case line <= 0, numbered != (o.Built != nil): // the last: the value is of another object
		return o.File, o.Line
	case numbered:
		return o.Built.Place(line)
	default:
		return o.File, line
	}
}

// Renamed returns the origin with its files under other names.
func (o Origin) Renamed(names *strings.Replacer) Origin {
	o.File = names.Replace(o.File)
	if o.Built != nil {
		o.Built = &renamed{o.Built, names}
	}
	return o
}

type renamed struct {
	Places
	names *strings.Replacer
}

// Place returns the place under the other name.
func (r *renamed) Place(number int) (file string, line int) {
	file, line = r.Places.Place(number)
	return r.names.Replace(file), line
}

// String gives the place for messages: file:line, or what of it is known.
func (o Origin) String() string {
	switch {
	case o.File == "":
		return "the input"
	case o.Line <= 0:
		return o.File
	default:
		return o.File + ":" + strconv.Itoa(o.Line)
	}
}

// ID names an object as the API server does, whatever its version.
type ID struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String gives Kind namespace/name, short for messages, and the kind alone
// when there is no name. It is one line: a further one from a name could pass for a message.
func (id ID) String() string {
	out := id.Kind
	switch {
	case id.Name == "":
	case id.Namespace == "":
		out += " " + id.Name
	default:
		out += " " + id.Namespace + "/" + id.Name
	}
	return tree.OneLine(out)
}

// Resource is one object. Its tree may be read by anybody through Node; who
// wants to change it calls Edit, which makes it lose its original bytes.
type Resource struct {
	Origin  Origin
	node    *tree.Node
	raw     []byte
	changed bool
	rereads []tree.Reread
	subset  string
	weight  tree.Weight
	// known is what the object is called until it is taken for editing.
	known identity
}

// identity is what all stages ask of every object, which lies scattered in its tree.
type identity struct{ apiVersion, kind, namespace, name string }

func identify(n *tree.Node) identity {
	meta := tree.Get(n, "metadata")
	return identity{tree.StrAt(n, "apiVersion"), tree.StrAt(n, "kind"), tree.StrAt(meta, "namespace"), tree.StrAt(meta, "name")}
}

// Parsed returns an object as it was in the input. raw may be nil when there are no bytes of its
// own (an element of a List, a KRM item); it must not change afterwards. root is the object's
// mapping, without aliases.
func Parsed(root *tree.Node, raw []byte, origin Origin) *Resource {
	return &Resource{Origin: origin, node: root, raw: raw, known: identify(root)}
}

// Copy is the object as read from the same place, for a caller that changes it.
func (r *Resource) Copy() *Resource { return Parsed(tree.Clone(tree.Root(r.Node())), nil, r.Origin) }

// Derived returns an object that the engine made in place of from. It belongs to the
// subset of from.
func Derived(root *tree.Node, from *Resource) *Resource {
	return &Resource{Origin: from.Origin, node: root, changed: true, subset: from.subset}
}

// Subset is the subset of a UnitedDeployment or WorkloadSpread that a stage made the object
// for, "" for all other objects.
func (r *Resource) Subset() string { return r.subset }

// SetSubset records that the object was made for a subset, or with "" for none.
func (r *Resource) SetSubset(name string) { r.subset = name }

// Node returns the object's tree for reading only.
func (r *Resource) Node() *tree.Node { return r.node }

// Edit returns the object's tree for changing. Parts of the tree that other
// objects may share must be copied before they are changed.
func (r *Resource) Edit() *tree.Node {
	r.changed, r.weight = true, tree.Weight{}
	return r.node
}

// Raw returns the bytes that the object came in as, nil when it was changed or
// never had bytes of its own.
func (r *Resource) Raw() []byte {
	if r.changed {
		return nil
	}
	return r.raw
}

// Weight is how much of the output an object is: of one that leaves as it came only the
// bytes, since its nodes are those of the input. It is counted once after each Edit.
func (r *Resource) Weight() tree.Weight {
	if raw := r.Raw(); raw != nil {
		return tree.Weight{Bytes: int64(len(raw))}
	}
	if r.weight.Nodes == 0 {
		r.weight = tree.Weigh(r.node)
	}
	return r.weight
}

// Reread reads plain words and keys again as kubectl does, which reads YAML 1.1. The
// bytes that the object came in as stay.
func (r *Resource) Reread() error {
	rereads, err := tree.Older(r.node)
	r.rereads, r.known = rereads, identify(r.node)
	return r.Wrap(err, "")
}

// Rereads are the places that were read again as something else.
func (r *Resource) Rereads() []tree.Reread { return r.rereads }

// Changed reports whether any stage took the object for editing.
func (r *Resource) Changed() bool { return r.changed }

// APIVersion returns apiVersion as written.
func (r *Resource) APIVersion() string {
	if !r.changed {
		return r.known.apiVersion
	}
	return tree.StrAt(r.node, "apiVersion")
}

// Kind returns kind as written.
func (r *Resource) Kind() string {
	if !r.changed {
		return r.known.kind
	}
	return tree.StrAt(r.node, "kind")
}

// Name returns metadata.name, "" with generateName.
func (r *Resource) Name() string {
	if !r.changed {
		return r.known.name
	}
	return tree.StrAt(r.node, "metadata", "name")
}

// Namespace returns metadata.namespace as written, "" when there is none.
func (r *Resource) Namespace() string {
	if !r.changed {
		return r.known.namespace
	}
	return tree.StrAt(r.node, "metadata", "namespace")
}

// Group returns the API group, "" for the core group.
func (r *Resource) Group() string { return GroupOf(r.APIVersion()) }

// Version returns the API version without its group.
func (r *Resource) Version() string {
	v := r.APIVersion()
	return v[strings.IndexByte(v, '/')+1:]
}

// ID returns the object's name for the API server.
func (r *Resource) ID() ID {
	return ID{Group: r.Group(), Kind: r.Kind(), Namespace: r.Namespace(), Name: r.Name()}
}

// Is reports whether the object is of the group and kind.
func (r *Resource) Is(group, kind string) bool { return r.Kind() == kind && r.Group() == group }

// Labels returns metadata.labels, nil when there are none.
func (r *Resource) Labels() map[string]string {
	return tree.Strings(tree.Get(r.node, "metadata", "labels"))
}

// Label returns the value of one label, "" when it is not set.
func (r *Resource) Label(key string) string { return tree.StrAt(r.node, "metadata", "labels", key) }

// Annotation returns the value of one annotation, "" when it is not set.
func (r *Resource) Annotation(key string) string {
	return tree.StrAt(r.node, "metadata", "annotations", key)
}

// Fault returns the error that field path of this object has the fault format
// describes. path is dotted, relative to the object; hint may be "".
func (r *Resource) Fault(path, hint, format string, args ...any) error {
	return r.Wrap(tree.Errorf(r.node, path, hint, format, args...), "")
}

// Wrap places err, which came from a look at the field below, in this object's
// file. Paths in err are taken relative to below ("" = the object itself).
func (r *Resource) Wrap(err error, below string) error {
	if err == nil {
		return nil
	}
	e := &Error{File: r.Origin.File, Line: r.Origin.Line, Object: r.ID(), Field: below, Err: err}
	if te, ok := err.(*tree.Error); ok { //nolint:errorlint // a wrapped one has its place already
		e.Field = join(below, te.Path)
		e.Hint = te.Hint
		if te.Line > 0 {
			e.File, e.Line = r.Origin.At(te.Line)
		} else {
			e.File, e.Line = r.Origin.At(tree.LineOf(r.node, e.Field))
		}
		e.Err = fmt.Errorf("%s", te.Msg)
	}
	return e
}

func join(below, path string) string {
	if below == "" || path == "" || path[0] == '[' {
		return below + path
	}
	return below + "." + path
}

// GroupOf returns the group of an apiVersion, "" for the core group.
func GroupOf(apiVersion string) string {
	if group, _, ok := strings.Cut(apiVersion, "/"); ok {
		return group
	}
	return ""
}
