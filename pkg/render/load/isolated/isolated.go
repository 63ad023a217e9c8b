// Package isolated runs a piece of work on untrusted input in a separate process: this program,
// started again, without a network, without other programs, without files outside of one folder,
// and with limits of memory and time. Libraries that would open a connection or run a program on
// behalf of a text cannot do so there.
//
// It does not depend on the work. [Serve] registers it, [Run] runs it.
package isolated

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// Limits bound a process. All must be set.
type Limits struct {
	// MemoryBytes is how much memory the process may use.
	MemoryBytes int64
	// Time is how long it may take.
	Time time.Duration
	// OutputBytes is how much it may answer.
	OutputBytes int64
}

// The reasons for which a process ended without an answer.
var (
	ErrMemory = errors.New("it takes too much memory")
	ErrTime   = errors.New("it takes too long")
	ErrOutput = errors.New("the result is too large")
)

// order is the message to a process.
type order struct {
	// Folder is the only one that the process may read from.
	Folder string
	Limits Limits
	Work   json.RawMessage
}

// exitMemory is the exit code of a process that takes too much memory.
const exitMemory = 97

// maxOutput is the limit of a process's standard error.
const maxOutput = 64 << 10

// Run has the work of a name done over what is below a folder. It returns the answer
// and what was written to standard error. The process ends when ctx does, and when this
// one does.
func Run(ctx context.Context, name, folder string, work any, limits Limits) (answer, said []byte, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("this program does not know its own file: %w", err)
	}
	text, err := encoded(folder, work, limits)
	if err != nil {
		return nil, nil, err
	}
	limited, stop := context.WithTimeoutCause(ctx, limits.Time, ErrTime)
	defer stop()
	c := exec.CommandContext(limited, program)
	c.Args = []string{os.Args[0], prefix + name}
	c.Dir, c.Env = folder, environment()
	c.WaitDelay = time.Second
	diesWithParent(c)
	stdin, hold, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	// The process reads its end as that of its parent.
	defer hold.Close() //nolint:errcheck // nothing is left in it
	c.Stdin = stdin
	out, complaint := &limitedBuffer{most: limits.OutputBytes, full: stop}, &limitedBuffer{most: maxOutput}
	c.Stdout, c.Stderr = out, complaint
	runtime.LockOSThread() // the process dies with the thread that starts it, on Linux
	defer runtime.UnlockOSThread()
	err = c.Start()
	_ = stdin.Close()
	if err != nil {
		return nil, nil, err
	}
	// The write fails if the process has ended already; Wait returns the reason.
	_, _ = hold.Write(text)
	err = c.Wait()
	return out.kept.Bytes(), complaint.kept.Bytes(), reason(ctx, limited, out, c, err)
}

func encoded(folder string, work any, limits Limits) ([]byte, error) {
	body, err := json.Marshal(work)
	if err != nil {
		return nil, err
	}
	return json.Marshal(order{Folder: folder, Limits: limits, Work: body})
}

// reason reports why a process ended without an answer.
func reason(ctx, limited context.Context, out *limitedBuffer, c *exec.Cmd, err error) error {
	switch {
	case out.over:
		return ErrOutput
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return ErrTime
	case c.ProcessState != nil && (c.ProcessState.ExitCode() == exitMemory || c.ProcessState.ExitCode() == exitRuntime):
		return ErrMemory
	}
	return fmt.Errorf("the process that does it ended: %w", err)
}

// exitRuntime is how Go's runtime ends, for instance when the system refuses memory.
const exitRuntime = 2

// environment holds no PATH, no home and no proxy.
func environment() []string {
	env := []string{"PATH=", "GOTRACEBACK=none"}
	if root, ok := os.LookupEnv("SYSTEMROOT"); ok { // without it, Windows starts nothing
		env = append(env, "SYSTEMROOT="+root)
	}
	return env
}

// limitedBuffer keeps what is written to it, up to a number of bytes.
type limitedBuffer struct {
	kept bytes.Buffer // not embedded: it would be read into past the bound
	most int64
	// full is called when there is more, and over is then true.
	full context.CancelFunc
	over bool
}

// Write keeps what there is room for; it never fails, so that the writer does not wait.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	room := b.most - int64(b.kept.Len())
	if int64(len(p)) <= room {
		return b.kept.Write(p)
	}
	if b.over = true; b.full != nil {
		b.full()
	}
	_, _ = b.kept.Write(p[:max(room, 0)])
	return len(p), nil
}

// prefix begins the one argument of a process that does work.
const prefix = "isolated-work:"

// Serve does the work of a name and ends the process, if it was started for that; else
// it does nothing. Call it from an init function, so that every program that asks for
// the work can do it, tests included. The work gets what [Run] was given and writes its
// answer; what it reads is its business, as far as files of the folder go.
func Serve(name string, work func(request []byte, answer io.Writer) error) {
	if len(os.Args) != 2 || os.Args[1] != prefix+name {
		return
	}
	if err := serve(work); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(work func([]byte, io.Writer) error) error {
	in := json.NewDecoder(os.Stdin)
	var o order
	if err := in.Decode(&o); err != nil {
		return err
	}
	go func() { // standard input ends with the parent
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	if err := shut(o.Folder); err != nil {
		return err
	}
	bound(o.Limits)
	out := bufio.NewWriter(os.Stdout)
	if err := work(bytes.Clone(o.Work), out); err != nil {
		return err
	}
	return out.Flush()
}
