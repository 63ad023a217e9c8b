// Package guard makes sure that nothing of a test cluster outlives the test.
//
// A cluster keeps all it has in one folder. A guardian, the same program started
// again in a session of its own, holds the other end of a pipe; when its parent
// ends, however it ends, the pipe closes and the guardian ends the cluster's
// processes, unmounts what is mounted below the folder and removes it. The
// regular end of a test takes the same path.
package guard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// guardianEnv names the folder to a program that is started as a guardian.
const guardianEnv = "KUBECTL_KRUISE_TEST_GUARDIAN"

func init() {
	if dir := os.Getenv(guardianEnv); dir != "" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		if err := clean(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// Folder is a cluster's folder with its guardian.
type Folder struct {
	// Path is the folder, readable by its owner alone.
	Path     string
	pipe     io.Closer
	guardian *exec.Cmd
	held     *os.File
}

// New makes a folder below Root and starts its guardian. Folders of dead
// programs whose guardian died too are removed on the way.
func New() (*Folder, error) {
	if err := os.MkdirAll(Root(), 0o700); err != nil {
		return nil, err
	}
	if err := Sweep(); err != nil {
		return nil, fmt.Errorf("removing leftovers: %w", err)
	}
	dir, err := os.MkdirTemp(Root(), unfinished)
	if err != nil {
		return nil, err
	}
	f := &Folder{Path: dir}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, pidsDir), 0o700), f.hold()); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	// Only now can others see it: a folder that is not locked yet looks abandoned.
	f.Path = filepath.Join(Root(), "c"+strings.TrimPrefix(filepath.Base(dir), unfinished))
	if err := os.Rename(dir, f.Path); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := f.watch(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	living.Store(f.Path, f)
	return f, nil
}

// living keeps every folder referenced until it is closed: a pipe and a lock that
// nothing refers to are closed by the garbage collector, which the guardian takes
// for the end of the program.
var living sync.Map

// unfinished begins the names of folders that Sweep leaves alone.
const unfinished = "."

// Root is where all folders of this user are.
func Root() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("kubectl-kruise-%d", os.Getuid()))
}

// watch starts the guardian: in its own session, so that a signal to the test's
// process group does not reach it, and with no stream of this process.
func (f *Folder) watch() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	f.pipe = w
	f.guardian = exec.Command(self)
	f.guardian.Env = append(os.Environ(), guardianEnv+"="+f.Path)
	f.guardian.Stdin = r
	f.guardian.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return f.guardian.Start()
}

// Close ends everything and waits until it is gone. A second call does nothing.
func (f *Folder) Close() error {
	if f.guardian == nil || f.guardian.Process == nil {
		return clean(f.Path)
	}
	if f.pipe == nil {
		return nil
	}
	_ = f.pipe.Close()
	f.pipe = nil
	living.Delete(f.Path)
	err := f.guardian.Wait()
	_ = f.held.Close()
	if err != nil {
		return fmt.Errorf("guardian of %s: %w", f.Path, err)
	}
	return nil
}
