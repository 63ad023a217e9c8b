package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// The exit codes of all commands (docs/architecture.md).
const (
	exitDone        = 0
	exitError       = 1
	exitUsage       = 2
	exitDiffers     = 1 // of diff
	exitTrouble     = 2 // of diff
	exitFailed      = 3
	exitTimedOut    = 4
	exitPaused      = 5
	exitInterrupted = 130
)

// exitCode is the only place that turns an error into an exit code.
func exitCode(ctx context.Context, err error) int {
	var bad *command.UsageError
	var failed *command.FailedError
	var trouble *command.TroubleError
	var own *command.CodeError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &bad):
		return exitUsage
	case errors.As(err, &own):
		return own.Code
	case errors.As(err, &failed), errors.Is(err, command.ErrFailed):
		return exitFailed
	case errors.Is(err, command.ErrTimedOut):
		return exitTimedOut
	case errors.Is(err, command.ErrPaused):
		return exitPaused
	case errors.Is(err, command.ErrInterrupted):
		return exitInterrupted
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return exitInterrupted
	case errors.Is(err, command.ErrDiffers):
		return exitDiffers
	case errors.As(err, &trouble):
		return exitTrouble
	default:
		return exitError
	}
}

// complain prints each fault on a line of its own, with its hint below, whose commands have the
// connection flags of this one. That a signal
// ended the command, when there is no more to say, is a word and no fault.
func complain(ctx context.Context, f *factory.Factory, err error) {
	s := f.Streams
	if command.Silent(err) {
		return
	}
	if exitCode(ctx, err) == exitInterrupted && onlyCanceled(err) {
		_, _ = fmt.Fprintln(s.Err, command.ErrInterrupted)
		return
	}
	if trouble, ok := errors.AsType[*command.TroubleError](err); ok {
		err = trouble.Err
	}
	var all resource.Errors
	all.Add(err)
	for _, e := range all {
		printFault(text.Folding(s.Err, s.ErrWidth), f, e)
	}
}

// onlyCanceled reports whether there is nothing in an error but that a signal came.
func onlyCanceled(err error) bool {
	var all resource.Errors
	all.Add(err)
	return !slices.ContainsFunc(all, func(e error) bool { return e.Error() != context.Canceled.Error() })
}

func printFault(w io.Writer, f *factory.Factory, err error) {
	said := f.Copyable(message(err))
	if answer, ok := strings.CutPrefix(said, "error from server"); ok { // as kubectl logs begins it
		said = fromServer + answer
	}
	if !strings.HasPrefix(said, fromServer) {
		said = "error: " + said
	}
	_, _ = fmt.Fprintln(w, said)
	if hint := cmp.Or(hintOf(err), serverHint(f, err)); hint != "" {
		_, _ = fmt.Fprintf(w, "hint: %s\n", f.Copyable(hint))
	}
}

// fromServer begins what kubectl prints of an answer of the API server, in place of "error: ".
const fromServer = "Error from server"

// message is the error's text; that of an answer of the API server and nothing else is as kubectl's. An answer of
// the API server, or of a proxy before it, that has no message of its own is named by its code.
func message(err error) string {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return err.Error()
	}
	status := answer.Status()
	said := status.Message != "" && status.Message != "unknown" && !strings.HasPrefix(status.Message, "unknown (")
	switch {
	case said && err.Error() == status.Message && status.Reason != metav1.StatusReasonUnknown:
		return fmt.Sprintf("%s (%s): %s", fromServer, status.Reason, status.Message)
	case said:
		return err.Error()
	}
	return fmt.Sprintf("%sthe API server answered with code %d (%s) and no message",
		strings.TrimSuffix(err.Error(), status.Message), status.Code, cmp.Or(string(status.Reason), "no reason"))
}

// serverHint is what to check where the API server cannot be reached: not any other server, such
// as that of a manifest.
func serverHint(f *factory.Factory, err error) string {
	dial, ok := errors.AsType[*net.OpError](err)
	request, sent := errors.AsType[*url.Error](err)
	if !ok || dial.Op != "dial" || !sent {
		return ""
	}
	cfg, configErr := f.Flags.ToRawKubeConfigLoader().ClientConfig()
	at, urlErr := url.Parse(request.URL)
	if configErr != nil || urlErr != nil || at.Host == "" || !strings.Contains(cfg.Host, at.Host) {
		return ""
	}
	return "check --kubeconfig, --context and $KUBECONFIG"
}

func hintOf(err error) string {
	if place, ok := errors.AsType[*resource.Error](err); ok && place.Hint != "" {
		return place.Hint
	}
	if bad, ok := errors.AsType[*command.UsageError](err); ok {
		return bad.Hint
	}
	if record, ok := errors.AsType[apply.UnreadableRecordError](err); ok {
		return record.Hint() // and not that of the field which makes it so
	}
	if fault, ok := errors.AsType[*tree.Error](err); ok {
		return fault.Hint
	}
	return kubectl.Hint(err)
}
