package proxy

import (
	"net/http"
	"net/url"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/endpoints/request"
)

// Request is one request as it came.
type Request struct {
	*request.RequestInfo

	Query url.Values
	Body  []byte
	At    time.Time
	// Fault is what was done to it, empty for nothing.
	Fault string
	// Code is what the server answered; 0 when it was never asked.
	Code int
}

// Effective reports whether the server has carried the request out, whatever the
// client was told.
func (r *Request) Effective() bool {
	return r.Code >= http.StatusOK && r.Code < http.StatusMultipleChoices
}

// Writes reports whether the request changes something.
func (r *Request) Writes() bool {
	switch r.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
}

// Log is a list of requests.
type Log struct {
	mu   sync.Mutex
	list []*Request
}

func (l *Log) add(r *Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, r)
}

// Each calls f with every request so far, in the order in which they ended.
func (l *Log) Each(f func(*Request)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.list {
		f(r)
	}
}

// Count counts the requests by verb and resource: "patch pods/status".
func (l *Log) Count() map[string]int {
	out := map[string]int{}
	l.Each(func(r *Request) {
		what := r.Resource
		if !r.IsResourceRequest {
			what = r.Path
		}
		if r.Subresource != "" {
			what += "/" + r.Subresource
		}
		out[r.Verb+" "+what]++
	})
	return out
}
