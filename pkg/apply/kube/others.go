package kube

import (
	"context"
	"errors"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Puller makes the objects that pull images onto nodes.
type Puller any

var errNotHere = errors.New("this step cannot be carried out yet")

func (c *Cluster) pull(context.Context, string, *plan.Pull) error { return errNotHere }

func (c *Cluster) restart(context.Context, string, *plan.Restart) error { return errNotHere }

func (c *Cluster) verify(context.Context, string, *plan.Verify) error { return errNotHere }
