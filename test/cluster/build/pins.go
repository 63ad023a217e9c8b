package build

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/testenv"
)

// Newest is the server line that tests run on by default.
const Newest = "v1.37"

// Environment variables that steer the builder.
const (
	// lineEnv names the server line, "v1.37" or "v1.36".
	lineEnv = "KUBECTL_KRUISE_SERVER"
	// cacheEnv names the cache folder, default <user cache>/kubectl-kruise/servers.
	cacheEnv = testenv.Servers
)

// kubernetes is the module whose version names a server line's binaries.
const kubernetes = "k8s.io/kubernetes"

// Line is the server line that the environment chooses.
func Line() string { return cmp.Or(os.Getenv(lineEnv), Newest) }

// binary is one program: its package, and the name it is installed under.
type binary struct{ name, pkg string }

// output is the file name that go build gives the program.
func (b binary) output() string {
	base := path.Base(b.pkg)
	if base == "v3" {
		return path.Base(path.Dir(b.pkg))
	}
	return base
}

// unit is what one go build makes out of one pinning module.
type unit struct {
	module   string
	tags     string
	binaries []binary
}

// units lists the builds behind a set. The kubelet shares the control plane's
// module, and so nearly all of its compiled packages.
func units(set Set, line string) []unit {
	if set == Control {
		return []unit{{module: line, binaries: []binary{
			{"etcd", "go.etcd.io/etcd/server/v3"},
			{"kube-apiserver", kubernetes + "/cmd/kube-apiserver"},
			{"kube-controller-manager", kubernetes + "/cmd/kube-controller-manager"},
			{"kube-scheduler", kubernetes + "/cmd/kube-scheduler"},
			{"kubectl", kubernetes + "/cmd/kubectl"},
		}}}
	}
	const containerd = "github.com/containerd/containerd/v2/cmd/"
	return []unit{
		{module: line, binaries: []binary{{"kubelet", kubernetes + "/cmd/kubelet"}}},
		{module: "containerd", tags: "no_btrfs,no_devmapper,no_zfs", binaries: []binary{
			{"containerd", containerd + "containerd"},
			{"containerd-shim-runc-v2", containerd + "containerd-shim-runc-v2"},
			{"ctr", containerd + "ctr"},
		}},
	}
}

// pins is the folder of the pinning modules.
func pins() (string, error) {
	top, err := checkout.Top()
	return filepath.Join(top, "test", "cluster", "binaries"), err
}

// Version is the exact server version that a line pins, such as "v1.37.1".
func Version(line string) (string, error) {
	dir, err := pins()
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, line, "go.mod")
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("no server line %q: %w", line, err)
	}
	mod, err := modfile.Parse(file, text, nil)
	if err != nil {
		return "", err
	}
	for _, r := range mod.Require {
		if r.Mod.Path == kubernetes {
			return r.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("%s does not require %s", file, kubernetes)
}

// folder is where a line's binaries live: a cache key of all that makes them.
func folder(line string) (string, error) {
	version, err := Version(line)
	if err != nil {
		return "", err
	}
	key, err := fingerprint(line, "containerd")
	if err != nil {
		return "", err
	}
	root, err := Root()
	if err != nil {
		return "", err
	}
	name := strings.Join([]string{version, runtime.Version(), runtime.GOARCH, key}, "-")
	return filepath.Join(root, name), nil
}

// Root is the cache folder with all built servers.
func Root() (string, error) {
	if root := os.Getenv(cacheEnv); root != "" {
		return root, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "kubectl-kruise", "servers"), nil
}

// fingerprint is a short hash over the pinning modules named.
func fingerprint(modules ...string) (string, error) {
	dir, err := pins()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, m := range modules {
		for _, f := range []string{"go.mod", "go.sum"} {
			text, err := os.ReadFile(filepath.Join(dir, m, f))
			if err != nil {
				return "", err
			}
			h.Write(text)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:8], nil
}
