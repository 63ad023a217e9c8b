package session

import (
	"errors"
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// FieldManager is who writes, unless --field-manager says otherwise.
const FieldManager = "kubectl-kruise"

// WithHint is why a rollout cannot be driven, with what to do about it.
func WithHint(err error) error {
	if stop, ok := errors.AsType[*apply.StopError](err); ok {
		if denied, ok := errors.AsType[*apply.DeniedError](err); ok {
			return &resource.Error{
				Err:  fmt.Errorf("the request is recorded, but pods of the current step are still updated: no process runs the rollout to stop the controller, and %w", denied),
				Hint: "run it again by an account with the role of 'kubectl kruise rbac'",
			}
		}
		return &resource.Error{Err: fmt.Errorf("the request is recorded, but %w", stop), Hint: "run it again"}
	}
	if denied, ok := errors.AsType[*apply.DeniedError](err); ok {
		return &resource.Error{Err: denied, Hint: "'kubectl kruise rbac' prints the roles that rollouts need"}
	}
	if errors.Is(err, apply.ErrChanged) {
		return &resource.Error{Err: err, Hint: "look at it and try again"}
	}
	if errors.Is(err, plan.ErrOtherExecutor) {
		return &resource.Error{Err: err, Hint: "watch it with 'kubectl kruise rollout status --watch', or stop the other one first"}
	}
	return err
}
