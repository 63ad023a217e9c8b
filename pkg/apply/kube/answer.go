package kube

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// watchLag is how far a watch may be behind before nobody waits for it any more.
const watchLag = time.Second

// unavailable reports whether a request may succeed when it is sent again: the
// server was busy, or the network failed. A server that refuses a request as such
// will do so again.
func unavailable(err error) bool {
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

// refusedByBudget recognises Kruise's webhook, which answers 403 for its
// PodUnavailableBudgets (docs/kruise/protection.md#podunavailablebudget).
func refusedByBudget(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(reasonOf(err), "podunavailablebudget.policy.kruise.io")
}

// isFailedTest recognises a JSON patch whose test did not hold; the server says no
// more than that the request is invalid as a whole.
func isFailedTest(err error) bool {
	return apierrors.IsInvalid(err) && strings.Contains(reasonOf(err), "the server rejected our request due to an error in our request")
}

// isHopeless recognises the answer to an eviction that more than one budget covers,
// which looks like a fault of the server and never changes (docs/facts/kubernetes.md#eviction).
func isHopeless(err error) bool {
	return apierrors.IsInternalError(err) && strings.Contains(reasonOf(err), "more than one PodDisruptionBudget")
}
