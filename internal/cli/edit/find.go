package edit

import (
	"slices"

	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
)

// find reads the objects that the flags and the arguments mean, as they are in the
// cluster or, under --local, in the files. Where there is no Kruise, what was rendered
// for them is changed.
func (v *Verb) find(named []string) (infos []*resource.Info, err error) {
	chosen := v.local || v.all || v.selector != ""
	err = resourcearg.Fallback{Factory: v.Factory, Chosen: chosen}.Do(v.command.Context(), named, func(named []string) (err error) {
		infos, err = v.read(named)
		return err
	})
	return infos, err
}

func (v *Verb) read(named []string) ([]*resource.Info, error) {
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
	return infos, kubectl.Err(err)
}

// builder begins a search in the namespace; enforce says that it was asked for.
func (v *Verb) builder() (b *resource.Builder, enforce bool, err error) {
	namespace, enforce, err := v.Factory.Flags.ToRawKubeConfigLoader().Namespace()
	if err != nil && !v.local {
		return nil, false, err
	}
	return kubectl.Factory(v.Factory).NewBuilder().Unstructured().ContinueOnError().NamespaceParam(namespace).DefaultNamespace(), enforce, nil
}
