package check

import (
	"errors"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Made checks the objects of out that are not in in, by the rules of their own
// kinds: what Kruise's controllers make passes the same webhooks, and what is
// refused there never comes into being. A fault that several objects have from
// one line of the input is reported once.
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
	all.Add(Run(c, made))
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
