// Package invariant says what must hold of a rollout whatever happens around it: small
// pure functions over what the API server has audited, never over what the product or a
// test tells of itself. Each returns what is wrong, in words; nothing is good.
package invariant

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// Write is one change that the API server was asked for.
type Write struct {
	// Version is the place of the change among all that the server stored; 0 where its
	// answer names none, as after an eviction or a refusal.
	Version uint64
	// At is when the request came, by the server's clock.
	At time.Time
	// By is whom the asker has impersonated, which in these tests operators do and
	// no others.
	By                                string
	Verb, Resource, Subresource, Name string
	// Code is the answer.
	Code int32
	// Body is what was sent, Object what was stored.
	Body, Object any
}

// Done reports whether the server carried it out.
func (w *Write) Done() bool { return w.Code >= 200 && w.Code < 300 }

// Log is a list of writes in the order in which the server carried them out.
type Log []Write

// Read reads what was audited; dry runs change nothing.
func Read(events []auditv1.Event) Log {
	out := make(Log, 0, len(events))
	for i := range events {
		e := &events[i]
		if e.ObjectRef == nil || e.ResponseStatus == nil || strings.Contains(e.RequestURI, "dryRun=") {
			continue
		}
		w := Write{
			At: e.RequestReceivedTimestamp.Time, Verb: e.Verb, Code: e.ResponseStatus.Code,
			Resource: e.ObjectRef.Resource, Subresource: e.ObjectRef.Subresource, Name: e.ObjectRef.Name,
		}
		if e.ImpersonatedUser != nil {
			w.By = e.ImpersonatedUser.Username
		}
		if e.RequestObject != nil {
			_ = json.Unmarshal(e.RequestObject.Raw, &w.Body)
		}
		if e.ResponseObject != nil && w.Done() {
			_ = json.Unmarshal(e.ResponseObject.Raw, &w.Object)
		}
		w.Version, _ = strconv.ParseUint(Text(w.Object, "metadata", "resourceVersion"), 10, 64)
		if w.Name == "" {
			w.Name = Text(w.Object, "metadata", "name")
		}
		out = append(out, w)
	}
	return ordered(out)
}

// ordered sorts by version. What has none comes after all that were received before it:
// a client that was answered comes before what it asked next.
func ordered(l Log) Log {
	var out, rest Log
	for _, w := range l {
		if w.Version > 0 {
			out = append(out, w)
		} else {
			rest = append(rest, w)
		}
	}
	slices.SortStableFunc(out, func(a, b Write) int { return int(a.Version) - int(b.Version) })
	slices.SortStableFunc(rest, func(a, b Write) int { return a.At.Compare(b.At) })
	for _, w := range rest {
		i := len(out)
		for i > 0 && out[i-1].At.After(w.At) {
			i--
		}
		out = slices.Insert(out, i, w)
	}
	return out
}

// at follows a path of names and indices through decoded JSON; nil where it ends early.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

// Text is the text at a path of decoded JSON, "" where there is none.
func Text(v any, path ...any) string {
	s, _ := at(v, path...).(string)
	return s
}

// String tells a log in lines, with what pods are after each write.
func (l Log) String() string {
	var out strings.Builder
	now := pods{}
	for i := range l {
		w := &l[i]
		if w.Resource == "leases" || w.Resource == "events" {
			continue
		}
		now.see(w)
		out.WriteString(w.String())
		if q := now[w.Name]; w.Resource == "pods" && q != nil {
			fmt.Fprintf(&out, " %s up=%t acted=%t", q.image, q.up, q.acted)
		}
		out.WriteByte('\n')
	}
	return out.String()
}
