package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/guard"
)

// Component names one process of the control plane.
type Component string

// The processes of a control plane, in the order in which they start.
const (
	Etcd              Component = "etcd"
	APIServer         Component = "kube-apiserver"
	ControllerManager Component = "kube-controller-manager"
	Scheduler         Component = "kube-scheduler"
)

// process is a component with everything needed to start it again.
type process struct {
	name   string
	binary string
	args   []string
	env    []string
	log    string

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{} // closed when cmd has ended
	wanted bool          // false while it is stopped on purpose
	again  int           // how often it may still be started when it ends by itself
}

// start runs the process, logging behind what it logged before.
func (p *process) start(folder *guard.Folder) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run(folder)
}

func (p *process) run(folder *guard.Folder) error {
	if p.runs() {
		return fmt.Errorf("%s runs already", p.name)
	}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	cmd := exec.Command(p.binary, p.args...)
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := folder.Start(cmd); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	p.cmd, p.exited, p.wanted = cmd, make(chan struct{}), true
	go func(exited chan struct{}) {
		_ = cmd.Wait()
		close(exited)
		p.revive(folder)
	}(p.exited)
	return nil
}

// revive starts a process that has ended by itself, as the node's kubelet does.
func (p *process) revive(folder *guard.Folder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.wanted || p.again == 0 || p.runs() {
		return
	}
	p.again--
	if err := p.run(folder); err != nil {
		p.again = 0 // which makes it a fault
	}
}

// forgo reports that the process is not wanted any more, so that nothing starts it again.
func (p *process) forgo() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = false
}

// stop ends the process with the signal and waits for it.
func (p *process) stop(ctx context.Context, sig syscall.Signal) error {
	p.mu.Lock()
	cmd, exited := p.cmd, p.exited
	p.wanted = false
	p.mu.Unlock()
	if cmd == nil {
		return nil
	}
	_ = cmd.Process.Signal(sig)
	select {
	case <-exited:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s does not end: %w", p.name, ctx.Err())
	}
}

// runs reports whether the process has started and not ended.
func (p *process) runs() bool {
	if p.cmd == nil {
		return false
	}
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// fault is why the process is not there although it should be, or nil.
func (p *process) fault() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.wanted || p.runs() || p.again > 0 {
		return nil
	}
	return fmt.Errorf("%s ended: %s\n%s", p.name, p.cmd.ProcessState, p.tail())
}

// tail is the end of the log.
func (p *process) tail() string {
	text, _ := os.ReadFile(p.log)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-25):], "\n")
}

// revivals is how often a controller may end by itself. The scheduler does when what
// it remembers is not what the API server says, such as after a watch was cut off, and
// the controller manager when it gets no answer for too long: both count on the one that
// starts them again.
const revivals = 5

// reviving has a component started again when it ends by itself.
func (p *process) reviving() *process {
	p.again = revivals
	return p
}

// process makes a component of this cluster's binaries. Processor time is scarcer than memory,
// so that they collect garbage rarely; and controllers, which mostly wake up to find nothing to
// do, take a quarter less of it when half of the machine's cores wake up for that.
func (c *Cluster) process(name Component, args ...[]string) *process {
	env := []string{"GOGC=600"}
	if name == ControllerManager || name == Scheduler {
		env = append(env, "GOMAXPROCS="+strconv.Itoa(max(1, runtime.NumCPU()/2)))
	}
	return &process{
		name:   string(name),
		binary: filepath.Join(c.binaries, string(name)),
		args:   slices.Concat(args...),
		env:    env,
		log:    filepath.Join(c.folder.Path, string(name)+".log"),
	}
}
