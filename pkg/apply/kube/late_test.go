package kube

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestOrForbidden: what may not be read is done without, what fails otherwise is not.
func TestOrForbidden(t *testing.T) {
	forbidden := fmt.Errorf("cannot read: %w", apierrors.NewForbidden(schema.GroupResource{Resource: "imagepulljobs"}, "", errors.New("you may not")))
	for name, c := range map[string]struct {
		err  error
		none bool
	}{"fair": {nil, false}, "forbidden": {forbidden, true}, "not served": {errNotServed, true}, "broken": {errBroken, false}} {
		t.Run(name, func(t *testing.T) {
			l := newLazyMirror(forbiddenAsNotServed(func() (*mirror[int], error) { return &mirror[int]{}, c.err }))
			if _, err := l.start(); errors.Is(err, errNotServed) != c.none || (err == nil) != (c.err == nil) {
				t.Error(err)
			}
		})
	}
}
