// Package sidecar is the stage in which SidecarSets are injected into every pod template of the stream.
package sidecar

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Run is the stage.
func Run(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	return in, nil
}
