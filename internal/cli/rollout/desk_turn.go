package rollout

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// turn is a change of a rollout on record.
type turn struct {
	change func(*kube.Record) (string, error)
	// goesOn says that it is carried on here, unless somebody carries it out.
	goesOn bool
	// means is the [Offer.Means] of it.
	means func(kube.Record) string
}

// rolloutOf is which rollout it is, stepOf which step of it, wayOf whether it
// goes on.
func rolloutOf(r kube.Record) string { return "rollout of " + r.Begun.UTC().String() }

func stepOf(r kube.Record) string { return fmt.Sprintf("step %d, %s", r.Progress.Step, rolloutOf(r)) }

func wayOf(r kube.Record) string {
	return fmt.Sprintf("held %t, halted %t, %s", r.Progress.Held != "", r.Progress.Halted != "", rolloutOf(r))
}

var errChanged = &resource.Error{Err: errors.New("it is not as it was when somebody was asked: nothing is done"), Hint: "look at it and ask again"}

// DoOnly does it where it means what somebody has said yes to; "" is whatever it means.
func (o *Offer) DoOnly(ctx context.Context, means string) (string, error) {
	if means != "" && means != o.Means {
		return "", errChanged
	}
	return o.do(ctx)
}
