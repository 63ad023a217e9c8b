package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/live"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// TestUnreadable_TellsRefusedCredentialsOnce: one cause is told once, and no other namespace is tried for it.
func TestUnreadable_TellsRefusedCredentialsOnce(t *testing.T) {
	refused := fmt.Errorf("cannot read pods: %w", apierrors.NewUnauthorized("Unauthorized"))
	for _, c := range []struct {
		err  error
		want string
		hint string
	}{
		{errors.Join(refused, refused), "refuses the credentials", "log in again"},
		{fmt.Errorf("cannot read pods: %w", apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", nil)), "forbidden", "-n names a namespace"},
	} {
		var got *resource.Error
		if err := unreadable(c.err); !errors.As(err, &got) || !strings.Contains(got.Error(), c.want) || !strings.HasPrefix(got.Hint, c.hint) || strings.Count(got.Error(), "\n") > 0 {
			t.Errorf("%v: %+v", c.err, got)
		}
	}
}

// TestEach_TellsRefusedCredentials: what is asked of a server that knows the user no more fails with what to do.
func TestEach_TellsRefusedCredentials(t *testing.T) {
	const verb = world.Verb("refused")
	offers[verb] = func(context.Context, *liveSource, cluster.Ref, world.Act) (*live.Offer, error) {
		return nil, fmt.Errorf("cannot read it: %w", apierrors.NewUnauthorized("Unauthorized"))
	}
	defer delete(offers, verb)
	_, err := (&liveSource{}).Effect(t.Context(), world.Act{Verb: verb, On: []cluster.Ref{web, web}})
	if err == nil || err.Error() != "the server refuses the credentials: Unauthorized: log in again" {
		t.Error(err)
	}
}
