package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// planError wraps an error of the server into one of the errors of plan.
func planError(what string, err error) error {
	kind := planErrorKind(err)
	if kind == nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s: %w: %s", what, kind, serverMessage(err))
}

// planErrorKind is the error of plan that an answer of the server means; nil for one that
// is final.
func planErrorKind(err error) error {
	switch {
	case apierrors.IsNotFound(err), apierrors.IsGone(err):
		return plan.ErrNotFound
	case apierrors.IsConflict(err), isFailedPatchTest(err):
		return plan.ErrConflict
	case apierrors.IsTooManyRequests(err) && apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause):
		return plan.ErrRefused
	case isRefusedByBudget(err):
		return plan.ErrRefused
	case isPermanentEvictionError(err):
		return nil
	case apierrors.IsUnauthorized(err):
		return plan.ErrCredentials
	case isTemporary(err):
		return plan.ErrUnavailable
	}
	return nil
}

// serverMessage is the message of the server alone.
func serverMessage(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Message != "" {
		return status.Status().Message
	}
	return err.Error()
}

// isRefusedByBudget recognises Kruise's webhook, which answers 403 for its
// PodUnavailableBudgets (docs/kruise/protection.md#podunavailablebudget).
func isRefusedByBudget(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(serverMessage(err), "podunavailablebudget.policy.kruise.io")
}

// isFailedPatchTest recognises a JSON patch whose test did not hold; the server says no
// more than that the request is invalid as a whole.
func isFailedPatchTest(err error) bool {
	return apierrors.IsInvalid(err) && strings.Contains(serverMessage(err), "the server rejected our request due to an error in our request")
}

// isPermanentEvictionError recognises the answer to an eviction that more than one budget covers,
// which looks like a fault of the server and never changes (docs/facts/kubernetes.md#eviction).
func isPermanentEvictionError(err error) bool {
	return apierrors.IsInternalError(err) && strings.Contains(serverMessage(err), "more than one PodDisruptionBudget")
}

// isTemporary reports whether a request may succeed when it is sent again: the
// server was busy, or the network failed. A server that refuses a request as such
// will do so again.
func isTemporary(err error) bool {
	var network net.Error
	var address *url.Error
	switch {
	case apierrors.IsTooManyRequests(err), apierrors.IsServerTimeout(err), apierrors.IsTimeout(err), apierrors.IsServiceUnavailable(err):
		return true
	case apierrors.IsInternalError(err), apierrors.IsUnexpectedServerError(err):
		return true
	case utilnet.IsConnectionReset(err), utilnet.IsConnectionRefused(err), utilnet.IsProbableEOF(err), utilnet.IsHTTP2ConnectionLost(err):
		return true
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.EPIPE), errors.Is(err, context.DeadlineExceeded):
		return true
	case errors.As(err, &network) && network.Timeout():
		return true
	}
	return errors.As(err, &address) && !strings.Contains(address.Err.Error(), "certificate")
}

// retryWrite tries a write until it is known whether it took effect: others may
// write in between, the cluster may not answer for a while, and an answer may get
// lost. try reads before it writes.
func retryWrite(ctx context.Context, try func() error) error {
	passing := func(err error) bool {
		return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || ctx.Err() == nil && isTemporary(err)
	}
	return retry.OnError(wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 8}, passing, try)
}

// requestTimeout is how long one request may take; see [leaseHolder.withTimeout] for writes.
const requestTimeout = 10 * time.Second

// backoff is how long to wait after the n-th failure in a row.
func backoff(n int) time.Duration { return min(100*time.Millisecond<<min(n-1, 6), 4*time.Second) }
