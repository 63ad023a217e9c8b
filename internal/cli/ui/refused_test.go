package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
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
