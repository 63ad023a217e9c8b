// Package check holds the rules that Kruise's webhooks and schemas enforce,
// offline: an object that Kruise would refuse is refused here, with file, line,
// field and a hint. One file or a few per kind, each with its part of the
// catalogue of rules. It changes no object and knows no cluster but the facts
// that it is handed.
package check

import (
	"errors"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Operation is what is asked of the API server.
type Operation string

// The operations.
const (
	Create Operation = "create"
	Update Operation = "update"
	Delete Operation = "delete"
)

// Request is one object on its way to the API server.
type Request struct {
	// Operation is an update when Old is there and a creation otherwise,
	// unless it is given.
	Operation Operation
	// Object is the object to create, the new state of an update, or the object to delete.
	Object *resource.Resource
	// Old is the state before an update.
	Old *resource.Resource
	// Known is set if the facts are complete. Otherwise nothing is refused because an object
	// is missing: it may be in the cluster.
	Known bool
}

// Fault is a violation of one rule of the catalogue by an object.
type Fault struct {
	// Rule is the ID of the rule.
	Rule string
	// Accepted is true if Kruise accepts the object, but its pods or the native object that
	// replaces it would be refused, or the value has no effect.
	Accepted bool
	// OfRelease is true if only some releases of Kruise refuse this, or an API server that is asked
	// to be strict: it matters only where the object is not expanded.
	OfRelease bool
	*resource.Error
}

// Object answers one request as Kruise's webhooks and schemas would: without faults, they
// accept it. Other objects that a rule depends on (targets, pods, other SidecarSets) are
// found in the facts of the context; of the input, only objects before this one exist. All
// feature gates with a webhook are assumed to be on.
func Object(c *stage.Context, q Request) []Fault {
	s := newSubject(c, q)
	switch {
	case s.Operation == Delete:
		checkDeletion(s)
	case s.kind == nil:
		wrongGroup(s)
	default:
		s.kind.check(s)
		checkRelease(s)
		s.withoutConsequences()
	}
	return s.faults
}

// Run checks every object of the input as one that will be applied. It returns those that do not
// leave the output, and all faults in input order.
func Run(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	kept := slices.Clone(in)
	err := c.Each(len(in), func(i int) error {
		err := applied(c, in[i])
		if c.Leave(in[i], err) {
			kept[i] = nil
			return nil
		}
		return err
	})
	return slices.DeleteFunc(kept, func(r *resource.Resource) bool { return r == nil }), err
}

// applied returns the faults of an object that will be applied that stop a render. For one that
// stays as it is, these are the faults for which Kruise refuses it; for one that is expanded, also
// those of its pods and of the native object that replaces it, but not those of a release.
func applied(c *stage.Context, r *resource.Resource) error {
	expanded := c.Expand(r.Kind())
	var errs resource.Errors
	for _, f := range Object(c, Request{Object: r, Old: c.Facts.Existing(r)}) {
		if !expanded && !f.Accepted || expanded && !f.OfRelease {
			errs.Add(f.Error)
		}
	}
	return errs.Err()
}

// resourceError returns the error as a [resource.Error], without a location if it is not one.
func resourceError(err error) *resource.Error {
	if e, ok := errors.AsType[*resource.Error](err); ok {
		return e
	}
	return &resource.Error{Err: err}
}

// Made checks the objects of out that are not in in, by the rules of their own
// kinds: workloads that Kruise's controllers create pass the same webhooks, and those that
// are refused there never exist. A fault that several objects have from one line of the
// input is reported once.
func Made(c *stage.Context, in, out []*resource.Resource) error {
	given := make(map[*resource.Resource]bool, len(in))
	for _, r := range in {
		given[r] = true
	}
	var made []*resource.Resource
	for _, r := range out {
		if !given[r] {
			made = append(made, r)
		}
	}
	var all, once resource.Errors
	all.Add(c.Each(len(made), func(i int) error { return applied(c, made[i]) }))
	seen := map[resource.Error]bool{}
	for _, err := range all {
		if e, ok := errors.AsType[*resource.Error](err); ok {
			key := resource.Error{File: e.File, Line: e.Line, Field: e.Field, Hint: e.Err.Error()}
			if seen[key] {
				continue
			}
			seen[key] = true
		}
		once.Add(err)
	}
	return once.Err()
}
