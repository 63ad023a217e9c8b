// Package standin adds the stand-ins for Kruise's controllers and webhooks
// (internal/testing/standin) to a test cluster.
//
//	c, namespace := cluster.Shared(t, kruise.API(), standin.Controllers())
package standin

import (
	"context"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/standin"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// Pace is [standin.Pace].
type Pace = standin.Pace

// AsleepAnnotation is [standin.AsleepAnnotation].
const AsleepAnnotation = standin.AsleepAnnotation

// Controllers is the option that adds Kruise's controllers and webhooks to a
// cluster that serves its API: it comes after kruise.API().
func Controllers() cluster.Option { return controllers(nil) }

// Paced is [Controllers] whose delays are noted in a pace.
func Paced(p *Pace) cluster.Option { return controllers(p) }

func controllers(p *Pace) cluster.Option {
	return cluster.WithAddOn("stand-ins", func(ctx context.Context, c *cluster.Cluster) error {
		return standin.Start(ctx, standin.Cluster{
			Config: c.Config(), Nodes: c.Nodes, Pace: p,
			Register: func(ctx context.Context, w standin.Webhooks) error { return serve(ctx, c, w) },
		})
	})
}
