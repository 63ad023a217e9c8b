package load

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/kustomize"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/isolated"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/linear"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// work is the name under which an isolated process builds a kustomization.
const work = "kustomize"

func init() { isolated.Serve(work, serve) }

// The first byte of an answer.
const (
	built  = '+'
	broken = '-'
)

// fault is a [resource.Error] on its way between processes.
type fault struct {
	File        string
	Line        int
	Object      resource.ID
	Field       string
	Error, Hint string
}

// serve builds what an isolated process was started for.
func serve(request []byte, answer io.Writer) error {
	var j job
	if err := json.Unmarshal(request, &j); err != nil {
		return err
	}
	out, err := j.buildWithKustomize()
	if err == nil {
		return writeProduct(answer, out)
	}
	f := fault{File: j.file(), Error: err.Error()}
	if e, ok := errors.AsType[*resource.Error](err); ok {
		f = sent(e)
	}
	if _, err := answer.Write([]byte{broken}); err != nil {
		return err
	}
	return json.NewEncoder(answer).Encode(f)
}

// textFacts are what goes with a text from process to process.
type textFacts struct {
	Undecided []fault
	Sources   []linear.Source
	Read      []string
}

// writeProduct writes what is known of the text, on a line, and the text.
func writeProduct(answer io.Writer, out product) error {
	known := textFacts{Sources: out.Sources, Read: out.Read}
	for _, place := range out.Undecided {
		known.Undecided = append(known.Undecided, sent(place))
	}
	line, err := json.Marshal(known)
	if err == nil {
		_, err = answer.Write(append(append([]byte{built}, line...), '\n'))
	}
	if err == nil {
		_, err = answer.Write(out.Text)
	}
	return err
}

func sent(e *resource.Error) fault {
	return fault{e.File, e.Line, e.Object, e.Field, e.Err.Error(), e.Hint}
}

func (f fault) received() *resource.Error {
	return &resource.Error{File: f.File, Line: f.Line, Object: f.Object, Field: f.Field, Err: errors.New(f.Error), Hint: f.Hint}
}

// readAnswer reads what serve has written.
func readAnswer(answer []byte) (out product, err error) {
	if len(answer) == 0 {
		return out, errors.New("kustomize gave no answer")
	}
	if answer[0] != built {
		var f fault
		if err := json.Unmarshal(answer[1:], &f); err != nil {
			return out, fmt.Errorf("the answer of kustomize: %w", err)
		}
		return out, f.received()
	}
	line, text, _ := bytes.Cut(answer[1:], []byte("\n"))
	var known textFacts
	if err := json.Unmarshal(line, &known); err != nil {
		return out, fmt.Errorf("the answer of kustomize: %w", err)
	}
	for _, f := range known.Undecided {
		out.Undecided = append(out.Undecided, f.received())
	}
	out.Text, out.Sources, out.Read = text, known.Sources, known.Read
	return out, nil
}

// buildWithKustomize has kustomize build the kustomization, which must happen in an isolated process.
func (j job) buildWithKustomize() (out product, err error) {
	d, text, sources, err := j.buildOnce(j.knowing(), true)
	defer d.close()
	out.Text, out.Sources = text, sources
	if d != nil && err == nil {
		for _, t := range d.texts {
			out.Read = append(out.Read, t.name)
		}
	}
	switch {
	case d == nil:
		return out, err
	case err == nil && (j.KruiseSchema != nil || !ofKruise(text)):
		return out, nil
	case err == nil:
		known, more, failed := j.buildAgain(!d.decidesFields())
		defer known.close()
		if failed == nil {
			out.Undecided, err = j.undecided(d, text, more)
		}
		return out, err
	}
	if refusal := d.root.Refused(); refusal != nil {
		return out, j.refusedByRoot(d, refusal)
	}
	if fault := j.remotePlace(d, err, isolated.Asked()); fault != nil {
		return out, fault
	}
	fault := j.kustomizeError(d, err)
	if j.KruiseSchema == nil && d.readKruise() && fault.Hint == "" {
		known, _, failed := j.buildAgain(true)
		defer known.close()
		if failed == nil {
			fault.Hint = "kustomize does not know Kruise's kinds: " + j.decides()
		}
	}
	return out, fault
}

// buildOnce builds with or without Kruise's schema and field lists, and returns what was read; the
// caller closes it, unless there is none.
func (j job) buildOnce(knowing, fields bool) (d *disk, text []byte, sources []linear.Source, err error) {
	root, err := j.open(context.Background(), maxKustomizeAgain)
	if err != nil {
		return nil, nil, nil, err
	}
	d = &disk{root: root, withoutPlugins: j.WithoutPlugins}
	additions, config, err := kruiseKinds(knowing)
	if err != nil {
		return d, nil, nil, err
	}
	if j.Large {
		if built, err := j.buildLarge(d, additions, config); err == nil {
			return d, built.Text, built.Sources, nil
		}
	}
	run := func(fs filesys.FileSystem) error {
		return kustomize.WithSchema(additions, func() (err error) {
			text, err = runKustomize(fs, j.Dir)
			if err == nil && len(text) <= maxTraced {
				first := *d
				sources = j.traced(fs)
				*d = first // the second build has read the same files
			}
			return err
		})
	}
	if !knowing || !fields {
		err = run(d)
		return d, text, sources, err
	}
	err = run(configFiles{d, config})
	if err != nil && strings.Contains(err.Error(), "conflicting fieldspecs") {
		err = run(d) // a configuration of the user differs about the same field
	}
	return d, text, sources, err
}

// maxTraced is up to how many bytes of text a build is done again for the origins of objects: the
// larger ones take kustomize too long. Origins are not asked for in the first build, since
// annotations can change what patches do.
const maxTraced = 1 << 20

// traced are where objects come from, as kustomize records it; nil where it does not.
func (j job) traced(fs filesys.FileSystem) (out []linear.Source) {
	silently(func() {
		objects, err := kustomized(originFiles{fs, j.Dir}, j.Dir)
		if err != nil {
			return
		}
		for _, r := range objects.Resources() {
			var s linear.Source
			if origin, err := r.GetOrigin(); err == nil && origin != nil && origin.Repo == "" {
				s.File, s.Generator = cmp.Or(origin.Path, origin.ConfiguredIn), origin.ConfiguredBy.Kind
			}
			if s.File != "" {
				s.File = filepath.Join(j.Dir, s.File)
			}
			out = append(out, s)
		}
	})
	return out
}

// buildAgain builds with Kruise's schema, and without the warnings that the first build gave.
func (j job) buildAgain(fields bool) (d *disk, text []byte, err error) {
	silently(func() { d, text, _, err = j.buildOnce(true, fields) })
	return d, text, err
}

// buildLarge builds what may take much memory as this program does, which takes less of it than
// kustomize.
func (j job) buildLarge(d *disk, additions, config []byte) (built linear.Built, err error) {
	root, err := j.open(context.Background(), maxBuildAgain)
	if err != nil {
		return built, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	own := &disk{root: root, withoutPlugins: j.WithoutPlugins}
	err = kustomize.WithSchema(additions, func() error {
		built, err = linear.Unbounded(own, j.Dir, config)
		warn(strings.Join(built.Warnings, "\n"))
		return err
	})
	d.texts, d.bytes = own.texts, own.bytes
	return built, err
}

// runKustomize has kustomize build dir.
func runKustomize(fs filesys.FileSystem, dir string) (text []byte, err error) {
	objects, err := kustomized(fs, dir)
	if err != nil {
		return nil, err
	}
	return objects.AsYaml()
}

// kustomized are the objects that kustomize builds. It panics where identities that a patch has
// changed collide.
func kustomized(fs filesys.FileSystem, dir string) (objects resmap.ResMap, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	opt := krusty.MakeDefaultOptions()
	opt.Reorder = krusty.ReorderOptionUnspecified
	return krusty.MakeKustomizer(opt).Run(fs, dir)
}
