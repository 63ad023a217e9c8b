// Package load reads manifests into resources: files, directories, standard
// input and kustomizations; YAML and JSON, many documents, Lists. Every
// document keeps the bytes it came in as, so that what nothing changes can
// leave as it was. All faults are reported, each with its place; nothing that
// a file holds makes it panic or grow without bound.
//
// It is the only room of the renderer, beside emit, that opens files. What a person
// typed is opened as typed; what the content of a file names is opened through package
// rooted, and kustomize runs in a process of package isolated.
package load

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// The limits that apply where Options has none.
const (
	// DefaultMaxFileBytes is far above what any API server stores, and leaves
	// room for dumps of a whole cluster.
	DefaultMaxFileBytes = 256 << 20
	// defaultMaxInputBytes bounds all files together.
	defaultMaxInputBytes = 256 << 20
	// defaultMaxDocumentBytes bounds one document; a List may hold many objects.
	defaultMaxDocumentBytes = 64 << 20
	// defaultMaxDepth is several times the deepest schema in use.
	defaultMaxDepth = 250
	// defaultMaxNodes bounds the values and keys of all documents together: each takes
	// 200 bytes of memory and more.
	defaultMaxNodes = 3_000_000
	// defaultMaxObjects is more than the largest clusters hold.
	defaultMaxObjects = 250_000
	// aliasAllowance is how many nodes aliases may add to a document; text without
	// aliases never has more nodes than bytes.
	aliasAllowance = 100_000
)

// ErrEmpty is the fault of an input that holds no object at all.
var ErrEmpty = resource.ErrEmpty

// Options define what to read.
type Options struct {
	// Files are paths of files and directories; "-" is Stdin.
	Files []string
	// Recursive looks into the folders of directories, too.
	Recursive bool
	// Except are files that a directory does not give, since something else reads
	// them: those of --with and --against may lie beside the manifests.
	Except []string
	// Kustomize is the directory of a kustomization to build, "" for none.
	Kustomize string
	// Root is the folder that what the content of files names is read from; links in
	// the directories of Files and names in kustomizations lead nowhere else. "" is the
	// directory itself, and for a kustomization the Git work tree that holds it.
	Root string
	// KruiseSchema says whether Kruise's schema and field lists take part in the build of the
	// kustomization, which kustomize has not; nil leaves that to the kustomization.
	KruiseSchema *bool
	// Undecided gets the places where Kruise's schema or field lists would change what is
	// built, and nothing says whether they take part. Without it each is a fault.
	Undecided *[]*resource.Error
	// Stdin is what "-" reads.
	Stdin io.Reader
	// Namespace is where objects without one live, for finding duplicates;
	// "" keeps "no namespace" apart from every namespace.
	Namespace string
	// MaxFileBytes and MaxDocumentBytes bound one file and one document, MaxInputBytes all
	// files together: no less than one file may have.
	MaxFileBytes, MaxDocumentBytes, MaxInputBytes int64
	// MaxDepth bounds one document after its aliases are written out, MaxNodes all
	// documents together, MaxObjects the objects of all files. 0 in any limit means the
	// default.
	MaxNodes, MaxDepth, MaxObjects int
}

// Load reads all input, files first, then the kustomization. The resources are in input order and
// have an Origin.Seq accordingly. The error has every fault, joined, each a *resource.Error; an
// input without objects is an error that matches ErrEmpty.
func Load(ctx context.Context, opt Options) ([]*resource.Resource, error) {
	all, err := Readable(ctx, opt)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Readable reads all input as Load does, and returns what could be read beside the
// faults of the rest: for callers that look at objects and emit none.
func Readable(ctx context.Context, opt Options) ([]*resource.Resource, error) {
	sources, errs, done := collect(ctx, opt)
	defer done()
	if opt.Kustomize != "" {
		sources = append(sources, kustomization(resource.WithProgress(ctx, resource.ProgressOf(ctx).Within(0, readPart*buildPart)), kustomizationDir{Dir: opt.Kustomize, Root: opt.Root, KruiseSchema: opt.KruiseSchema}, opt.Undecided))
	}
	all, err := readForKubectl(ctx, sources, opt)
	errs.Add(err)
	errs.Add(duplicates(all, opt.Namespace))
	if len(errs) == 0 && len(all) == 0 {
		e := &resource.Error{Err: ErrEmpty, Hint: "name files with -f, or a kustomization with -k"}
		if len(sources) == 1 {
			e.File, e.Hint = sources[0].name, ""
		}
		errs.Add(e)
	}
	return all, errs.Err()
}

// duplicates finds objects that the input holds twice. Objects that the API
// server names (generateName) are never the same.
func duplicates(all []*resource.Resource, namespace string) error {
	var errs resource.Errors
	first := make(map[resource.ID]*resource.Resource, len(all))
	for _, r := range all {
		id := r.ID()
		if id.Name == "" {
			continue
		}
		if id.Namespace == "" {
			id.Namespace = namespace
		}
		f := first[id]
		if f == nil {
			first[id] = r
			continue
		}
		errs.Add(&resource.Error{
			File: r.Origin.File, Line: r.Origin.Line, Object: r.ID(),
			Err:  fmt.Errorf("%w, first at %s", resource.ErrDuplicate, f.Origin),
			Hint: "remove one of the two, or give it another name",
		})
	}
	return errs.Err()
}

// Context reads the files of --with: objects that exist and are used but not
// emitted. "-" is stdin, nil where something else has read that. They may
// repeat objects of the stream and may be none at all; otherwise as Load.
func Context(ctx context.Context, files []string, stdin io.Reader) ([]*resource.Resource, error) {
	opt := Options{Files: files, Stdin: stdin}
	sources, errs, done := collect(ctx, opt)
	defer done()
	all, err := readForKubectl(ctx, sources, opt)
	errs.Add(err)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return all, nil
}

// Parse reads the documents of one text as kustomize does, which reads YAML 1.2; name is its name
// in messages and origins. Duplicates and an empty text are accepted.
func Parse(name string, text []byte) ([]*resource.Resource, error) {
	return read(context.Background(), textSource(name, text), Options{})
}

// Named is a text that is to be read, by its name in messages and origins.
type Named struct {
	Name string
	Read func() ([]byte, error)
}

// All reads several texts as [Parse] does one. The limits are for all of them together.
func All(texts []Named) ([]*resource.Resource, error) {
	sources := make([]source, len(texts))
	for i, t := range texts {
		sources[i] = source{name: t.Name, read: func(limit int64) ([]byte, error) {
			b, err := t.Read()
			if err == nil && int64(len(b)) > limit {
				err = tooLarge(t.Name, limit)
			}
			return b, err
		}}
	}
	return read(context.Background(), sources, Options{})
}

// Single parses a text that must hold one document, with its aliases written out, and returns the
// document's node; name is the name of the text in messages.
func Single(name string, b []byte) (*tree.Node, error) {
	if err := checkText(name, b); err != nil {
		return nil, err
	}
	docs, err := split(name, b, 1)
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return nil, &resource.Error{File: name, Err: ErrEmpty}
	}
	if len(docs) > 1 {
		return nil, docs[1].fault(docs[1].line, "", "a second document begins here, where one is allowed")
	}
	return docs[0].expanded(Options{}.withDefaults())
}

// Text reads the documents of one text as Load reads files: as kubectl does.
func Text(name string, text []byte) ([]*resource.Resource, error) {
	return readForKubectl(context.Background(), textSource(name, text), Options{})
}

// readForKubectl reads sources for kubectl, which takes YAML 1.1 where the parser knows 1.2.
func readForKubectl(ctx context.Context, sources []source, opt Options) ([]*resource.Resource, error) {
	progress := resource.ProgressOf(ctx)
	all, err := read(resource.WithProgress(ctx, progress.Within(0, readPart)), sources, opt)
	if ctx.Err() != nil {
		return all, err
	}
	ctx = resource.WithProgress(ctx, progress.Within(readPart, 1))
	faults, stopped := each(ctx, len(all), func(i int) error { return all[i].Reread() })
	if stopped != nil {
		return nil, stopped
	}
	var errs resource.Errors
	errs.Add(err)
	errs.Add(faults.Err())
	return all, errs.Err()
}

func textSource(name string, text []byte) []source {
	return []source{{name: name, read: func(int64) ([]byte, error) { return text, nil }}}
}

// read turns sources into resources on all cores: first every file is read and
// cut into documents, then every document is parsed.
func read(ctx context.Context, sources []source, opt Options) ([]*resource.Resource, error) {
	opt = opt.withDefaults()
	files := make([][]document, len(sources))
	budget := &budget{opt: opt}
	progress, found := resource.ProgressOf(ctx), .3
	if opt.Kustomize != "" {
		found = buildPart
	}
	ctx = resource.WithProgress(ctx, progress.Within(0, found))
	errs, err := each(ctx, len(sources), func(i int) (err error) {
		files[i], err = sources[i].documents(budget)
		return err
	})
	if err != nil {
		return nil, err
	}
	if budget.over.Load() {
		return nil, budget.fault()
	}
	var docs []document
	for _, f := range files {
		docs = append(docs, f...)
	}
	if len(docs) > opt.MaxObjects {
		return nil, tooMany(opt.MaxObjects)
	}
	parsed := make([][]*resource.Resource, len(docs))
	values := &values{most: opt.MaxNodes, mostBytes: opt.MaxInputBytes}
	ctx = resource.WithProgress(ctx, progress.Within(found, 1))
	more, err := each(ctx, len(docs), func(i int) (err error) {
		parsed[i], err = docs[i].parseCounted(opt, values)
		return err
	})
	if values.exceeded() {
		return nil, values.fault()
	}
	if err != nil {
		return nil, err
	}
	all := slices.Concat(parsed...)
	for i, r := range all {
		r.Origin.Seq = i
	}
	if len(all) > opt.MaxObjects {
		return nil, tooMany(opt.MaxObjects)
	}
	errs.Add(more.Err())
	return all, errs.Err()
}

func tooMany(most int) error {
	return &resource.Error{Err: fmt.Errorf("the input holds more than %s", counted.Of(most, "object")), Hint: "read parts of it apart, or raise the limit of objects"}
}

func (o Options) withDefaults() Options {
	if o.MaxFileBytes <= 0 {
		o.MaxFileBytes = DefaultMaxFileBytes
	}
	if o.MaxInputBytes <= 0 {
		o.MaxInputBytes = defaultMaxInputBytes
	}
	o.MaxInputBytes = max(o.MaxInputBytes, o.MaxFileBytes)
	if o.MaxDocumentBytes <= 0 {
		o.MaxDocumentBytes = defaultMaxDocumentBytes
	}
	if o.MaxDepth <= 0 {
		o.MaxDepth = defaultMaxDepth
	}
	if o.MaxNodes <= 0 {
		o.MaxNodes = defaultMaxNodes
	}
	if o.MaxObjects <= 0 {
		o.MaxObjects = defaultMaxObjects
	}
	return o
}

// readPart is which part of the work is done when all objects were read once.
const readPart = .9

// buildPart is which part of the work before that is done when the kustomization is built.
const buildPart = .8

// each calls f for 0 to n-1 on all cores and gathers the faults in that order;
// err is the context's.
func each(ctx context.Context, n int, f func(i int) error) (faults resource.Errors, err error) {
	err = resource.InOrder(ctx, 0, n, resource.ProgressOf(ctx), f, func(err error) { faults.Add(err) })
	return faults, err
}
