package realnode

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// startContainerd runs containerd with everything of it inside the folder.
func (n *Node) startContainerd(ctx context.Context) error {
	runc, err := exec.LookPath("runc")
	if err != nil {
		return err
	}
	if err := n.write("containerd.toml", n.containerdConfig(runc)); err != nil {
		return err
	}
	if err := n.start("containerd", "--config", n.path("containerd.toml")); err != nil {
		return err
	}
	return until(ctx, "containerd", func() error { return listens(n.socket()) })
}

func (n *Node) socket() string { return n.path("c.sock") }

// containerdConfig: without restrict_oom_score_adj every sandbox fails where root
// lacks CAP_SYS_RESOURCE.
func (n *Node) containerdConfig(runc string) string {
	return fmt.Sprintf(`version = 3
root = %[1]q
state = %[2]q
disabled_plugins = ["io.containerd.nri.v1.nri", "io.containerd.internal.v1.opt", "io.containerd.tracing.processor.v1.otlp"]
[grpc]
  address = %[3]q
[ttrpc]
  address = %[4]q
[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = %[5]q
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  disable_apparmor = true
  netns_mounts_under_state_dir = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = [%[6]q]
    conf_dir = %[7]q
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = "runc"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      runtime_path = %[8]q
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        BinaryName = %[9]q
        SystemdCgroup = false
        Root = %[10]q
`, n.path("containerd"), n.path("run"), n.socket(), n.socket()+".ttrpc", pauseImage, cniDir, n.path("cni"),
		filepath.Join(n.config.Binaries, "containerd-shim-runc-v2"), runc, n.path("runc"))
}

// cniConfig hangs pods on the node's bridge. No address is translated: pods reach
// each other and the node.
func cniConfig(n *Node) string {
	return fmt.Sprintf(`{"cniVersion": "1.0.0", "name": "test", "plugins": [{
  "type": "bridge", "bridge": %q, "isGateway": true, "ipMasq": false, "hairpinMode": true,
  "ipam": {"type": "host-local", "dataDir": %q, "ranges": [[{"subnet": %q, "rangeStart": %q}]], "routes": [{"dst": "0.0.0.0/0"}]}
}]}`, n.Bridge, n.path("addresses"), n.subnet, strings.TrimSuffix(n.Address, ".1")+".10")
}

// Versions of the test image that are there from the beginning.
var versions = []string{"1", "2", "3", "4"}

// DataImage is an image with the file data/here and nothing to run.
const DataImage = "registry.test/data:1"

// images builds the test program, puts it into images and imports them.
func (n *Node) images(ctx context.Context) error {
	program := n.path("app")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program,
		"github.com/kubectl-kruise/kubectl-kruise/test/cluster/realnode/app")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the test image: %w\n%s", err, out)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	l := newLayout(text)
	if _, err := l.add(image{references: []string{pauseImage}, command: []string{"pause"}}); err != nil {
		return err
	}
	// What pulls images for the product runs nothing.
	if _, err := l.add(image{references: []string{kruise.PullHelperImage}, command: []string{"exit", "0"}}); err != nil {
		return err
	}
	if _, err := l.add(image{references: []string{DataImage}, data: map[string]string{"data/here": "x"}}); err != nil {
		return err
	}
	for _, v := range versions {
		i := image{references: []string{Repository + ":" + v, Repository + ":also-" + v}, env: []string{"VERSION=" + v}}
		if n.Digests[v], err = l.add(i); err != nil {
			return err
		}
	}
	if err := n.load(ctx, l); err != nil {
		return err
	}
	return n.serve(l)
}

// Import gives the kubelet an image that has nothing but these executable files, by path.
func (n *Node) Import(ctx context.Context, reference string, files map[string]string) error {
	l := newLayout(nil)
	if _, err := l.add(image{references: []string{reference}, data: files}); err != nil {
		return err
	}
	return n.load(ctx, l)
}

// load imports a layout for the kubelet's use.
func (n *Node) load(ctx context.Context, l *layout) error {
	tar, err := os.Create(n.path("images.tar"))
	if err != nil {
		return err
	}
	err = l.write(tar)
	if closing := tar.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	load := exec.CommandContext(ctx, filepath.Join(n.config.Binaries, "ctr"),
		"--address", n.socket(), "-n", "k8s.io", "images", "import", tar.Name())
	if out, err := load.CombinedOutput(); err != nil {
		return fmt.Errorf("importing images: %w\n%s", err, out)
	}
	return os.Remove(tar.Name())
}
