package guard

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// pidsDir holds a file per process: its pid and its start time, which together
// cannot be mistaken for another process.
const pidsDir = "pids"

// Start starts a process in a group of its own and registers it with the folder.
// It also dies with this program.
func (f *Folder) Start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := spawn(cmd); err != nil {
		return err
	}
	pid := cmd.Process.Pid
	name := filepath.Join(f.Path, pidsDir, strconv.Itoa(pid))
	if start, err := startTime(pid); err == nil {
		return os.WriteFile(name, fmt.Appendf(nil, "%d %s", pid, start), 0o600)
	}
	return nil // it has ended already, which its owner notices
}

// spawn starts processes from one thread that never ends: the death signal is
// sent when the thread that started the child ends, not when the program does.
func spawn(cmd *exec.Cmd) error {
	thread.Do(func() {
		go func() {
			runtime.LockOSThread()
			for r := range spawner {
				r.done <- r.cmd.Start()
			}
		}()
	})
	done := make(chan error)
	spawner <- start{cmd, done}
	return <-done
}

type start struct {
	cmd  *exec.Cmd
	done chan error
}

var (
	thread  sync.Once
	spawner = make(chan start)
)

// startTime is field 22 of /proc/PID/stat, in clock ticks since boot.
func startTime(pid int) (string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	_, rest, ok := bytes.Cut(text, []byte(") "))
	fields := strings.Fields(string(rest))
	if !ok || len(fields) < 20 {
		return "", os.ErrProcessDone
	}
	// The first thread is a zombie while others still close files and ports.
	if threads := fields[17]; fields[0] == "Z" && (threads == "0" || threads == "1") {
		return "", os.ErrProcessDone
	}
	return fields[19], nil
}

// kill sends SIGKILL to all that belongs to the folder and returns how many
// processes are still there.
func kill(dir string) (int, error) {
	registered, err := registered(dir)
	if err != nil {
		return 0, err
	}
	for _, pid := range registered {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	strays := append(naming(dir), members(dir)...)
	for _, pid := range strays {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return len(registered) + len(strays), nil
}

// registered lists the processes of Start that still run.
func registered(dir string) ([]int, error) {
	files, err := os.ReadDir(filepath.Join(dir, pidsDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var out []int
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, pidsDir, file.Name())) //nolint:gosec // below the guarded folder
		if err != nil {
			continue
		}
		first, then, _ := strings.Cut(string(text), " ")
		pid, err := strconv.Atoi(first)
		if err != nil {
			continue
		}
		if now, err := startTime(pid); err == nil && now == then {
			out = append(out, pid)
		}
	}
	return out, nil
}

// naming lists the processes with the folder in their command line: those that
// left the group of the one that started them, as container shims do.
func naming(dir string) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var out []int
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(text, []byte(dir+"/")) {
			continue
		}
		if pid, err := strconv.Atoi(strings.Split(file, "/")[2]); err == nil && pid != os.Getpid() {
			out = append(out, pid)
		}
	}
	return out
}

// members lists the processes in the control groups registered with Also.
func members(dir string) []int {
	links, _ := filepath.Glob(filepath.Join(dir, undoDir, "*"))
	var out []int
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil {
			continue
		}
		_ = filepath.WalkDir(target, func(path string, d os.DirEntry, err error) error { //nolint:gosec // a link that Also made
			if err == nil && d.Name() == "cgroup.procs" {
				out = append(out, pids(path)...)
			}
			return nil
		})
	}
	return out
}

// pids reads a file of one process id per line.
func pids(file string) []int {
	text, _ := os.ReadFile(file)
	var out []int
	for word := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(word); err == nil && pid > 1 {
			out = append(out, pid)
		}
	}
	return out
}
