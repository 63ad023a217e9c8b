// Package playground runs a cluster in the background, with modelled nodes in
// three zones, Kruise's API with stand-ins of its controllers, and an example
// application in its native form.
package playground

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
)

// Playground is how to start one.
type Playground struct {
	// Out is told what happens and what to try.
	Out io.Writer
	// Binary renders the kustomization Example.
	Binary, Example string
}

// HoldVerb is the command line's word for the program in the background.
const HoldVerb = "hold"

// startLimit covers a cold build of the servers too.
const startLimit = 40 * time.Minute

// state is what a running playground tells the commands.
type state struct {
	PID        int
	Kubeconfig string
	Kubectl    string
	// CloneSet is a file to begin with.
	CloneSet string
}

// folder is where a user's only playground keeps its state and its log.
func folder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "kubectl-kruise", "playground")
	return dir, os.MkdirAll(dir, 0o700)
}

// Start brings the playground up in the background, or finds it running, and
// says what to try.
func (p Playground) Start(ctx context.Context) error {
	dir, err := folder()
	if err != nil {
		return err
	}
	unlock, err := lock(dir)
	if err != nil {
		return err
	}
	defer unlock()
	if s, err := running(dir); err == nil {
		p.welcome(s)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	hold, log, err := p.background(dir)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	ended := make(chan error, 1)
	go func() { ended <- hold.Wait() }()
	s, err := p.follow(ctx, dir, log.Name(), ended)
	if err != nil {
		_ = hold.Process.Signal(syscall.SIGTERM)
		return err
	}
	p.welcome(s)
	return nil
}

// lock keeps two starts apart: the second would take the first one's log and state.
func lock(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(errors.New("another start of the playground is in progress"), f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// background starts this program again in a session of its own.
func (p Playground) background(dir string) (*exec.Cmd, *os.File, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	if err := os.Remove(filepath.Join(dir, "state.json")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(self, HoldVerb, "-binary", p.Binary, "-example", p.Example)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, log, cmd.Start()
}

// follow passes the log on until the playground is up.
func (p Playground) follow(ctx context.Context, dir, log string, ended <-chan error) (state, error) {
	shown := 0
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		text, err := os.ReadFile(log)
		if err != nil {
			return state{}, err
		}
		_, _ = p.Out.Write(text[shown:])
		shown = len(text)
		if s, err := running(dir); err == nil {
			return s, nil
		}
		select {
		case <-ctx.Done():
			return state{}, ctx.Err()
		case err := <-ended:
			text, _ := os.ReadFile(log)
			_, _ = p.Out.Write(text[shown:])
			return state{}, fmt.Errorf("the playground ended: %w", err)
		case <-tick.C:
		}
	}
}

// Stop ends the playground and waits until nothing of it is left.
func (p Playground) Stop(ctx context.Context) error {
	dir, err := folder()
	if err != nil {
		return err
	}
	s, err := running(dir)
	if err != nil {
		_, _ = fmt.Fprintln(p.Out, "no playground is running")
		return nil
	}
	if err := syscall.Kill(s.PID, syscall.SIGTERM); err != nil {
		return err
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := running(dir); err != nil {
			_, _ = fmt.Fprintln(p.Out, "the playground is gone")
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// running reads the state of a playground whose program is alive.
func running(dir string) (state, error) {
	text, err := os.ReadFile(filepath.Join(dir, "state.json"))
	if err != nil {
		return state{}, err
	}
	var s state
	if err := json.Unmarshal(text, &s); err != nil {
		return state{}, err
	}
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.PID), "cmdline"))
	if err != nil || !bytes.Contains(line, []byte("\x00"+HoldVerb+"\x00")) {
		return state{}, errors.New("not running")
	}
	return s, nil
}

// welcome describes what to try.
func (p Playground) welcome(s state) {
	_, _ = fmt.Fprintf(p.Out, strings.TrimLeft(`
The playground is up. Kubeconfig: %[1]s
In this shell:

  export KUBECONFIG=%[1]s
  export PATH=%[2]s:%[3]s:$PATH

Then try:

  kubectl get nodes -L topology.kubernetes.io/zone
  kubectl get pods -A -o wide
  kubectl -n shop-orders get deployments --show-labels
  kubectl kruise render -k %[4]s --live --explain
  kubectl -n shop-orders rollout restart deployment

Stand-ins of Kruise's controllers run too. A CloneSet, updated in place:

  kubectl apply -f %[5]s
  kubectl patch cloneset web --type merge -p '{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"registry.example.com/web:2"}]}}}}'
  kubectl get clonesets.apps.kruise.io web -o jsonpath='{.status.updatedReplicas} updated, {.status.updatedReadyReplicas} ready{"\n"}'
  kubectl get pods -l app=web -o custom-columns=NAME:.metadata.name,IMAGE:.spec.containers[0].image,RESTARTS:.status.containerStatuses[0].restartCount
`, "\n"), patches.Quote(s.Kubeconfig), patches.Quote(filepath.Dir(s.Kubectl)),
		patches.Quote(filepath.Dir(absolute(p.Binary))), patches.Quote(absolute(p.Example)), patches.Quote(s.CloneSet))
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
