package load

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// building guards kustomize's global schema, which a build with a schema of
// its own would leave behind for the next one (contracts 2.4).
var building sync.Mutex

// Kustomize builds the kustomization in dir in process and returns the bytes
// that `kustomize build` prints, with one difference: strategic merge patches
// of Kruise objects merge containers and the like by name, as they do in
// Kubernetes' own workloads (contracts 2.3 says what plain kustomize does).
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
	building.Lock()
	defer building.Unlock()
	openapi.ResetOpenAPI()
	defer openapi.ResetOpenAPI()
	if err := openapi.AddSchema([]byte(kruiseSchema)); err != nil {
		return nil, fmt.Errorf("the schema of the Kruise kinds: %w", err)
	}
	opt := krusty.MakeDefaultOptions()
	opt.Reorder = krusty.ReorderOptionUnspecified
	objects, err := krusty.MakeKustomizer(opt).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, refused(dir, err)
	}
	b, err := objects.AsYaml()
	if err != nil {
		return nil, refused(dir, err)
	}
	return b, nil
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
