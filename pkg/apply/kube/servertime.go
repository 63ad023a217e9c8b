package kube

import (
	"net/http"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Whether a holder is alive and whether a pause is over is decided by the clock of the API server, where it is known: a
// machine whose clock is ten minutes ahead would call every rollout dead, and end the pauses of others early.

// serverClock is what a transport satisfies that has seen the clock of its server.
type serverClock interface{ ServerTime() time.Time }

// tolerance is how far the clock of this machine may be from the server's, which is known to a second, and count.
const tolerance = 5 * time.Second

// Now is the time in the cluster of a client: that of this machine, unless the server's clock is clearly another one.
func Now(core kubernetes.Interface) time.Time {
	now, server := time.Now(), serverTime(core)
	if server.Sub(now).Abs() < tolerance {
		return now
	}
	return server
}

// serverTime is the time of the server of a client, or of this machine where no transport of the client tells it.
func serverTime(core kubernetes.Interface) time.Time {
	client, ok := core.CoordinationV1().RESTClient().(*rest.RESTClient)
	if !ok || client == nil || client.Client == nil {
		return time.Now()
	}
	for next := client.Client.Transport; next != nil; next = below(next) {
		if clock, ok := next.(serverClock); ok {
			return clock.ServerTime()
		}
	}
	return time.Now()
}

// below is the transport that another one wraps; nil for none.
func below(t http.RoundTripper) http.RoundTripper {
	if w, ok := t.(utilnet.RoundTripperWrapper); ok {
		return w.WrappedRoundTripper()
	}
	return nil
}

// renewedAt is when a lease was written last by its holder: by the server's clock, which the managed fields
// have to the second, or else by the one of the holder.
func renewedAt(l *coordinationv1.Lease) time.Time {
	var at time.Time
	for _, w := range l.ManagedFields {
		if w.Operation == metav1.ManagedFieldsOperationUpdate && w.Time != nil && w.FieldsV1 != nil && w.Time.After(at) &&
			strings.Contains(w.FieldsV1.GetRawString(), `"f:renewTime"`) {
			at = w.Time.Time
		}
	}
	if at.IsZero() {
		return l.Spec.RenewTime.Time
	}
	return at
}
