package conformance

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
)

func TestConformanceInjection(t *testing.T) {
	Area(t, "injection", func(_ *testing.T, c Case) error {
		return Injection(c, injected)
	})
}

// TestInjection_IsIdempotent: what comes out of a recorded case stays as it is when it is
// rendered with the same sets once more.
func TestInjection_IsIdempotent(t *testing.T) {
	Area(t, "injection", func(_ *testing.T, c Case) error {
		stream, context, err := InjectionScene(c)
		if err != nil || c.Has("denied.txt") {
			return err
		}
		docs, err := injected(stream, context)
		if err != nil {
			return err
		}
		return sameAgain(docs, stream, context)
	})
}

func injected(stream, around []map[string]any) ([]map[string]any, error) {
	out, err := render.Render(context.Background(), parsed(stream), render.Options{
		Kruise: kruise.Next,
		Target: render.Kruise, Expand: []string{"SidecarSet"}, Context: parsed(around),
	})
	if err != nil {
		return nil, err
	}
	var docs []map[string]any
	for _, r := range out.Resources {
		docs = append(docs, tree.Value(r.Node()).(map[string]any))
	}
	return docs, nil
}

// sameAgain renders what came out with the same sets: nothing may change.
func sameAgain(docs, stream, context []map[string]any) error {
	again := slices.Clone(docs)
	for _, d := range stream {
		if d["kind"] == "SidecarSet" {
			again = append(again, d)
		}
	}
	second, err := injected(again, context)
	if err != nil {
		return fmt.Errorf("rendering the output again: %w", err)
	}
	return Different("the second rendering", Diff(docs, second))
}
