package node

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/utils/exec"
)

// shell answers the few commands that tests run in containers.
type shell struct {
	pool *Pool
	pod  *corev1.Pod
}

// ExecInContainer runs one command. A signal to process 1 ends the container as
// it would on a real node: TERM does, KILL from inside does nothing.
func (s *shell) ExecInContainer(
	_ context.Context, _, _, container string, command []string, in io.Reader, out, errs io.WriteCloser,
	_ bool, _ <-chan remotecommand.TerminalSize, _ time.Duration,
) error {
	if len(command) == 3 && command[0] == "sh" && command[1] == "-c" {
		command = strings.Fields(command[2])
	}
	line := strings.Join(command, " ")
	switch {
	case len(command) == 0 || line == "true" || line == "kill -KILL 1" || line == "kill -9 1":
		return nil
	case command[0] == "echo":
		return say(out, strings.Join(command[1:], " "))
	case line == "hostname":
		return say(out, s.pod.Name)
	case line == "cat":
		_, err := io.Copy(out, in)
		return err
	case line == "kill 1" || line == "kill -TERM 1" || line == "kill -15 1":
		s.pool.Exit(s.pod.Namespace, s.pod.Name, container, 143)
		return nil
	case line == "false":
		return exit(1)
	}
	if errs != nil {
		_ = say(errs, command[0]+": not found")
	}
	return exit(127)
}

func say(w io.Writer, line string) error {
	_, err := fmt.Fprintln(w, line)
	return err
}

func exit(code int) error {
	return exec.CodeExitError{Err: fmt.Errorf("exit status %d", code), Code: code}
}
