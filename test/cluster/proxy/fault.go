package proxy

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Weather is how often what goes wrong, from 0 to 1. The zero value is fair.
type Weather struct {
	// Requests is the share of requests that are spoiled, Watches that of watches.
	Requests, Watches float64
	// Slow is the longest that something is held up.
	Slow time.Duration
}

// fault is what happens to one request. before and after report whether the client
// has its answer, of which there is only one.
type fault struct {
	name          string
	before, after func(*Proxy, http.ResponseWriter, *http.Request) bool
	// stale answers with what was true before.
	stale bool
	// fits selects which requests it happens to; nil is all.
	fits func(*Request) bool
}

var faults = []fault{
	{name: "409", before: says(http.StatusConflict, metav1.StatusReasonConflict, 0), fits: (*Request).Writes},
	{name: "429", before: says(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, 1)},
	{name: "500", before: says(http.StatusInternalServerError, metav1.StatusReasonInternalError, 0)},
	{name: "503", before: says(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, 0)},
	{name: "500 after", after: says(http.StatusInternalServerError, metav1.StatusReasonInternalError, 0)},
	{name: "timeout before", before: says(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, 0)},
	{name: "timeout after", after: says(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, 0)},
	{name: "reset before", before: breaks},
	{name: "reset after", after: breaks},
	{name: "slow", before: waits},
	{name: "slow answer", after: waits},
	{name: "stale", stale: true, fits: func(r *Request) bool { return r.Verb == "list" && r.Query.Get("resourceVersion") == "0" }},
}

// fault draws what happens to a request.
func (p *Proxy) fault(r *Request) fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.chance.Float64() >= p.weather.Requests {
		return fault{}
	}
	f := faults[p.chance.IntN(len(faults))]
	if f.fits != nil && !f.fits(r) {
		return fault{}
	}
	return f
}

// says answers with a status of the API.
func says(code int, reason metav1.StatusReason, retryAfter int) func(*Proxy, http.ResponseWriter, *http.Request) bool {
	return func(_ *Proxy, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "application/json")
		if retryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
		}
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(status(code, reason))
		return true
	}
}

func status(code int, reason metav1.StatusReason) *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "spoiled by the test: " + string(reason),
	}
}

func breaks(_ *Proxy, w http.ResponseWriter, _ *http.Request) bool {
	reset(w)
	return true
}

// waits holds a request or its answer up.
func waits(p *Proxy, _ http.ResponseWriter, r *http.Request) bool {
	pause(r.Context(), p.upTo(p.weather.Slow))
	return false
}

// upTo draws a time.
func (p *Proxy) upTo(most time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Duration(p.chance.Int64N(int64(most) + 1))
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// detached is the context of a request that continues without its client.
func (p *Proxy) detached(r *http.Request) context.Context { return context.WithoutCancel(r.Context()) }
