// Package references is the stage in which what names an expanded object follows it to what it became.
package references

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Run is the stage.
func Run(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	return in, nil
}
