// Package realnode runs a real kubelet with containerd and runc beside a test
// cluster, for what no model can prove. It needs root and Debian's packages runc,
// containernetworking-plugins and iproute2.
package realnode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/guard"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/pki"
)

// Name is the node's.
const Name = "real-0"

// cniDir is where Debian keeps the network plugins.
const cniDir = "/usr/lib/cni"

// Config is what the node needs of its cluster.
type Config struct {
	Folder   *guard.Folder
	Binaries string
	Client   kubernetes.Interface
	// Issue signs a certificate of the cluster, Kubeconfig writes access with it.
	Issue      func(pki.Subject) (pki.Pair, error)
	Kubeconfig func(file string, pair pki.Pair) error
}

// Node is a running real node.
type Node struct {
	config Config
	// Digests are those of the test images, by version.
	Digests map[string]string
	// Address is the node's own, on its bridge.
	Address string
	// Bridge is the network link that pods hang on, Groups the control group that
	// they are in. Both are outside of the folder.
	Bridge, Groups string
	subnet         string
	claim          io.Closer // held for the life of this program
	// Registry is where the test images can be pulled from: host, port.
	Registry string
	registry *http.Server
	logs     []string
	first    int // process that made the mount namespace
}

// Start brings the node up, with the test images, and returns when it is ready.
// It ends with the folder's guardian.
func Start(ctx context.Context, config Config) (*Node, error) {
	if lacks := Missing(); lacks != "" {
		return nil, fmt.Errorf("a real node needs %s", lacks)
	}
	third, claim, err := subnet()
	if err != nil {
		return nil, err
	}
	id := rand.IntN(1 << 24) //nolint:gosec // a name, no secret
	n := &Node{
		config: config, Digests: map[string]string{}, claim: claim,
		subnet: fmt.Sprintf("10.214.%d.0/24", third), Address: fmt.Sprintf("10.214.%d.1", third),
		Bridge: fmt.Sprintf("kk%06x", id), Groups: fmt.Sprintf("/kubectl-kruise-%06x", id),
	}
	steps := []func(context.Context) error{
		n.network, n.controlGroups, n.startContainerd, n.images, n.startKubelet, n.ready,
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, errors.New(n.tails()))
		}
	}
	return n, nil
}

// Close ends what the node has in this program; the rest ends with its folder.
func (n *Node) Close() error { return n.registry.Close() }

// subnet finds a network 10.214.N.0/24 that no link of the machine is in and no
// other program is about to use: a socket without a file stands for the claim.
func subnet() (third int, claim io.Closer, err error) {
	used, err := net.InterfaceAddrs()
	if err != nil {
		return 0, nil, err
	}
	for _, i := range rand.Perm(250) { //nolint:gosec // an address, no secret
		third := i + 1
		if slices.ContainsFunc(used, func(a net.Addr) bool {
			return strings.HasPrefix(a.String(), fmt.Sprintf("10.214.%d.", third))
		}) {
			continue
		}
		if claim, err := net.Listen("unix", fmt.Sprintf("@kubectl-kruise-subnet-%d", third)); err == nil {
			return third, claim, nil
		}
	}
	return 0, nil, errors.New("no free network 10.214.N.0/24")
}

// path is a file of the node.
func (n *Node) path(name string) string { return filepath.Join(n.config.Folder.Path, "node", name) }

// network makes the bridge that pods hang on. Its address is the node's: nothing
// outside of the machine reaches it.
func (n *Node) network(context.Context) error {
	for _, dir := range []string{"cni", "pod-logs", "kubelet", "run", "private"} {
		if err := os.MkdirAll(n.path(dir), 0o700); err != nil {
			return err
		}
	}
	if err := fixedFolders(); err != nil {
		return err
	}
	if err := n.config.Folder.After("ip", "link", "delete", n.Bridge); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"link", "add", n.Bridge, "type", "bridge"},
		{"addr", "add", n.Address + "/24", "dev", n.Bridge},
		{"link", "set", n.Bridge, "up"},
	} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	return n.write("cni/10-test.conflist", cniConfig(n))
}

// start runs one of the node's programs and logs what it says.
func (n *Node) start(name string, args ...string) error {
	log, err := os.OpenFile(n.path(name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	n.logs = append(n.logs, log.Name())
	line := n.inPrivate(append([]string{filepath.Join(n.config.Binaries, name)}, args...))
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), "PATH="+n.config.Binaries+":"+os.Getenv("PATH"))
	if err := n.config.Folder.Start(cmd); err != nil {
		return err
	}
	if n.first == 0 {
		n.first = cmd.Process.Pid
	}
	go func() { _ = cmd.Wait() }()
	return nil
}

func (n *Node) write(name, text string) error { return os.WriteFile(n.path(name), []byte(text), 0o600) }

// tails are the ends of the logs.
func (n *Node) tails() string {
	var b strings.Builder
	for _, log := range n.logs {
		text, _ := os.ReadFile(log)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		fmt.Fprintf(&b, "%s:\n%s\n", log, strings.Join(lines[max(0, len(lines)-20):], "\n"))
	}
	return b.String()
}

// patience is for one step of the start, on a machine under load.
const patience = 5 * time.Minute

// until asks again and again, because sockets and kernel files send no events.
func until(ctx context.Context, what string, holds func() error) error {
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := holds()
		if err == nil {
			return nil
		}
		select {
		case <-limit.Done():
			return fmt.Errorf("%s: %w", what, err)
		case <-tick.C:
		}
	}
}

// listens reports whether a unix socket answers.
func listens(socket string) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	return conn.Close()
}
