package edit

import (
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	place "github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// find reads the objects that the flags and the arguments mean, as they are in the
// cluster or, under --local, in the files.
func (v *Verb) find(named []string) ([]*resource.Info, error) {
	b, enforce, err := v.builder()
	if err != nil {
		return nil, err
	}
	files := v.files
	// The library would read the process's own standard input.
	files.Filenames = slices.DeleteFunc(slices.Clone(files.Filenames), func(f string) bool { return f == "-" })
	b = b.LocalParam(v.local).FilenameParam(enforce, &files)
	if v.ReadsStdin() {
		b = b.Stream(v.Factory.Streams.In, "STDIN")
	}
	b = b.Flatten()
	if !v.local {
		b = b.LabelSelectorParam(v.selector).ResourceTypeOrNameArgs(v.all, named...).Latest()
	}
	infos, err := b.Do().Infos()
	return infos, apart(err)
}

// builder begins a search in the namespace; enforce says that it was asked for.
func (v *Verb) builder() (b *resource.Builder, enforce bool, err error) {
	namespace, enforce, err := v.Factory.Flags.ToRawKubeConfigLoader().Namespace()
	if err != nil && !v.local {
		return nil, false, err
	}
	return kubectl.Factory(v.Factory).NewBuilder().Unstructured().ContinueOnError().NamespaceParam(namespace).DefaultNamespace(), enforce, nil
}

// apart gives each of several failures a line of its own, and types that are not there
// a hint.
func apart(err error) error {
	var out place.Errors
	if many, ok := errors.AsType[utilerrors.Aggregate](err); ok {
		for _, e := range many.Errors() {
			out.Add(apart(e))
		}
		return out.Err()
	}
	if err != nil && (meta.IsNoMatchError(err) || strings.Contains(err.Error(), "the server doesn't have a resource type")) {
		return &place.Error{Err: err, Hint: "'kubectl kruise api-resources' lists the types; without Kruise in the cluster there are only native ones"}
	}
	return err
}
