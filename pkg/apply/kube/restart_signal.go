package kube

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// signalFacts is what must be known of a pod before its processes are signalled.
type signalFacts struct {
	// sharedProcesses is why process 1 does not belong to a container.
	sharedProcesses string
	// endingContainers are not started again.
	endingContainers []string
	// preStopCommands are run first: a kubelet runs no preStop hook of a
	// container that ends by itself.
	preStopCommands map[string][]string
}

func signalFactsOf(p *corev1.Pod) signalFacts {
	var s signalFacts
	if p.Spec.HostPID || p.Spec.ShareProcessNamespace != nil && *p.Spec.ShareProcessNamespace {
		s.sharedProcesses = "its containers share their process IDs"
	}
	for i := range p.Spec.Containers {
		own := &p.Spec.Containers[i]
		policy := cmp.Or(p.Spec.RestartPolicy, corev1.RestartPolicyAlways) == corev1.RestartPolicyAlways
		if own.RestartPolicy != nil {
			policy = *own.RestartPolicy == corev1.ContainerRestartPolicyAlways
		}
		if !policy {
			s.endingContainers = append(s.endingContainers, own.Name)
		}
		if l := own.Lifecycle; l != nil && l.PreStop != nil && l.PreStop.Exec != nil {
			if s.preStopCommands == nil {
				s.preStopCommands = map[string][]string{}
			}
			s.preStopCommands[own.Name] = l.PreStop.Exec.Command
		}
	}
	return s
}

// restartBySignal asks the first process of each container to end, and the kubelet starts it
// again (docs/facts/kubelet.md#kill-from-inside). It is noted on the pod before and after: another
// process in between signals only what has not restarted.
func (rs *restarter) restartBySignal(ctx context.Context, m stepID, p observedPod, r *plan.Restart) error {
	a, ok := restartNoteOf(p.Pod)
	switch {
	case ok && a.Step == m && a.Sent:
		return nil
	case p.sharedProcesses != "":
		return fmt.Errorf("pod %s cannot be signalled: %s", p.Name, p.sharedProcesses)
	}
	for _, name := range r.Containers {
		if slices.Contains(p.endingContainers, name) {
			return fmt.Errorf("pod %s: container %s cannot be signalled: its restartPolicy does not bring it back", p.Name, name)
		}
	}
	if !ok || a.Step != m {
		a = newRestartNote(m, p, plan.RestartSignal, r.Containers)
		if err := rs.writeNote(ctx, p, a, nil); err != nil {
			return err
		}
	}
	for _, name := range r.Containers {
		if err := rs.terminate(ctx, p, name, a.Before[name]); err != nil {
			return fmt.Errorf("pod %s: container %s cannot be signalled: %w", p.Name, name, err)
		}
	}
	a.Sent = true
	body := map[string]any{"metadata": map[string]any{"uid": p.UID, "annotations": map[string]any{restartAnnotation: a.text()}}}
	return rs.writer.sendPod(ctx, r.PodRef, plan.Patch{Body: body})
}

// terminate sends TERM to process 1, with the program kill or that of a shell; a
// container that has restarted since is left alone.
func (rs *restarter) terminate(ctx context.Context, p observedPod, container string, before int) error {
	if now, ok := rs.observer.pods.get(p.Namespace, p.Name); ok {
		if has, _ := now.Container(container); has.Restarts > before {
			return nil
		}
	}
	if hook := p.preStopCommands[container]; len(hook) > 0 {
		if err := rs.exec(ctx, p, container, hook); errors.Is(err, plan.ErrUnavailable) {
			return err
		} // a kubelet continues after a hook that fails
	}
	err := rs.exec(ctx, p, container, []string{"kill", "1"})
	if isCommandMissing(err) {
		err = rs.exec(ctx, p, container, []string{"sh", "-c", "kill 1"})
	}
	if isCommandMissing(err) {
		return errors.New("its image holds neither the program kill nor a shell; choose another --method")
	}
	return err
}

// exec runs a command in a container.
func (rs *restarter) exec(ctx context.Context, p observedPod, container string, command []string) error {
	ctx, cancel := context.WithTimeout(ctx, execTimeout)
	defer cancel()
	url := rs.core.CoreV1().RESTClient().Post().Namespace(p.Namespace).Resource("pods").Name(p.Name).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Container: container, Command: command, Stdout: true, Stderr: true}, scheme.ParameterCodec).URL()
	older, err := remotecommand.NewSPDYExecutor(rs.config, "POST", url)
	if err != nil {
		return err
	}
	newer, err := remotecommand.NewWebSocketExecutor(rs.config, "GET", url.String())
	if err != nil {
		return err
	}
	both, err := remotecommand.NewFallbackExecutor(newer, older, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return err
	}
	var out bytes.Buffer
	err = both.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &out, Stderr: &out})
	return execError(err)
}

// execTimeout is how long one command may take.
const execTimeout = 30 * time.Second

// execError is the error of a command that ended so.
func execError(err error) error {
	var exit utilexec.CodeExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit) && exit.Code > exitSignalled:
		return nil // it was killed with its container
	case errors.As(err, &exit):
		return fmt.Errorf("exit code %d: %w", exit.Code, exit)
	case isTemporary(err):
		return fmt.Errorf("%w: %s", plan.ErrUnavailable, serverMessage(err))
	}
	return err
}

func isCommandMissing(err error) bool {
	if exit, ok := errors.AsType[utilexec.CodeExitError](err); ok {
		return exit.Code == exitNotExecutable || exit.Code == exitNotFound
	}
	return err != nil && (strings.Contains(err.Error(), "executable file not found") || strings.Contains(err.Error(), "no such file or directory"))
}

// Exit codes of a shell, and of a runtime, for a program that is not there; and of a
// program that was killed along with process 1.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
	exitSignalled     = 128
)
