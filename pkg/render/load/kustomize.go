package load

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/kustomize"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/linear"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Kustomize builds the kustomization in dir in process and returns the bytes
// that `kustomize build` prints, with one difference: it knows Kruise's kinds.
// Strategic merge patches merge containers and the like by name, and labels,
// images, replicas and names reach selectors, templates and references, as they
// do in Kubernetes' own workloads (contracts 2.3 says what plain kustomize does).
// Where configurations of the kustomization say something else about such a
// field, only they count; openapi.path takes the place of the schema.
//
// It opens no connection and runs no program: what names a remote place, a
// function or a chart is refused, by name. Deprecation warnings go to the
// standard error of the process, as kustomize writes them.
func Kustomize(dir string) ([]byte, error) {
	if err := offline(dir); err != nil {
		return nil, err
	}
	if err := directory(dir); err != nil {
		return nil, err
	}
	additions, err := kustomize.Additions()
	if err != nil {
		return nil, fmt.Errorf("the schema of the Kruise kinds: %w", err)
	}
	config, err := kustomize.Configuration()
	if err != nil {
		return nil, fmt.Errorf("the configuration for the Kruise kinds: %w", err)
	}
	var out []byte
	run := func(how func() ([]byte, error)) error {
		return kustomize.WithSchema(additions, func() (err error) {
			out, err = how()
			return err
		})
	}
	err = run(func() ([]byte, error) { return quickly(config, dir) })
	if err != nil && conflicting(err) {
		err = run(func() ([]byte, error) { return build(filesys.MakeFsOnDisk(), dir) })
	}
	if err != nil {
		return nil, refused(dir, err)
	}
	return out, nil
}

// quickly builds what can be built without kustomize to the same bytes, and has
// kustomize build the rest.
func quickly(config []byte, dir string) ([]byte, error) {
	built, unfit := linear.Build(filesys.MakeFsOnDisk(), dir, config)
	if unfit != nil {
		return build(configured{filesys.MakeFsOnDisk(), config}, dir)
	}
	for _, line := range built.Warnings {
		fmt.Fprintln(os.Stderr, line)
	}
	return built.Text, nil
}

// build has kustomize build dir. Kustomize panics where identities that a patch has
// changed collide.
func build(fs filesys.FileSystem, dir string) (text []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	opt := krusty.MakeDefaultOptions()
	opt.Reorder = krusty.ReorderOptionUnspecified
	objects, err := krusty.MakeKustomizer(opt).Run(fs, dir)
	if err != nil {
		return nil, err
	}
	return objects.AsYaml()
}

// directory refuses in plain words what kustomize refuses in its own.
func directory(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return unreadable(dir, err)
	case !info.IsDir():
		return &resource.Error{File: dir, Err: errors.New("is no directory"), Hint: "name the directory that holds the kustomization; single files are named with -f"}
	}
	return nil
}

// refused gives kustomize's own errors, which may span lines and quote secrets,
// one line, the directory and a hint.
func refused(dir string, err error) error {
	e := &resource.Error{File: dir, Err: errors.New(masked(err.Error()))}
	switch {
	case types.IsErrOnlyBuiltinPluginsAllowed(err):
		e.Hint = "rendering runs no functions: pipe `kustomize build --enable-alpha-plugins --enable-exec` into -f -"
	case strings.Contains(err.Error(), "--enable-helm"):
		e.Hint = "rendering runs no helm: pipe `kustomize build --enable-helm` into -f -"
	case strings.Contains(err.Error(), "security; file"):
		e.Hint = "files must lie in or below the directory of the kustomization that names them"
	}
	return e
}
