package session

import (
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/gitops"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// WarnOfOwners warns, before the confirmation, that a GitOps controller writes the
// object, and what to agree with it.
func (c *Client) WarnOfOwners(object *resource.Resource) {
	var pointers []string
	if path := plan.PartitionPath(object.Group(), object.Kind(), object.Version()); path != nil {
		pointers = append(pointers, "/"+strings.Join(path, "/"))
	} else if object.Kind() == kruise.KindDeployment {
		pointers = append(pointers, "/spec/paused")
	}
	for _, o := range gitops.Owners(object) {
		_, _ = fmt.Fprintln(c.Factory.Streams.Err, strings.TrimRight("warning: "+gitops.Advice(o, object, pointers), "\n"))
	}
}

// warnOfStop warns that a GitOps controller would let the controller of a stopped rollout
// continue, and what to agree with it.
func (c *Client) warnOfStop(object *resource.Resource, stop plan.ControllerStop) {
	path := stop.Field.Path(object.Group(), object.Kind(), object.Version())
	if path == nil {
		return
	}
	for _, o := range gitops.Owners(object) {
		_, _ = fmt.Fprintln(c.Factory.Streams.Err, strings.TrimRight("warning: "+gitops.StopAdvice(o, object, "/"+strings.Join(path, "/")), "\n"))
	}
}
