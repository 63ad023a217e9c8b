// Package live reads from a cluster the facts that rendering needs and that
// files cannot give: which namespaces exist, what the subsets of a
// UnitedDeployment run now, which SidecarSet revisions are stored, what the
// server is. What render --live uses and what inventory writes down is read
// here, and is the same. It reads and never writes, and reads no Secret.
package live

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// File is the origin that context objects from a cluster carry.
const File = "(cluster)"

// Cluster is where facts are read.
type Cluster struct {
	Objects   dynamic.Interface
	Discovery *discovery.DiscoveryClient
}

// Connect opens the way to the cluster.
func Connect(f *factory.Factory) (Cluster, error) {
	d, err := f.Discovery()
	if err != nil {
		return Cluster{}, err
	}
	objects, err := f.Dynamic()
	return Cluster{Objects: objects, Discovery: d}, err
}

// Scope says which facts are wanted. The zero value means all of all namespaces.
type Scope struct {
	// Stream is what will be rendered: only facts that its rendering asks for are
	// read, and Namespace is where objects without one live. nil asks for the
	// facts that any rendering may ask for, in Namespace or ("") everywhere.
	Stream    []*resource.Resource
	Namespace string
	// Selector is a label selector that workloads, pods and what acts on them
	// must match, too; namespaces, nodes and settings need not.
	Selector string
	// Wanted chooses among [Kinds]; nil chooses all.
	Wanted func(kind string) bool
	// Now permits facts that hold for the moment only, such as the restarts of a pod.
	Now bool
}

func (s Scope) wants(kind string) bool { return s.Wanted == nil || s.Wanted(kind) }

// Result is what a cluster told.
type Result struct {
	// Context are the objects for render.Options.Context: ClusterFacts first, the
	// others by group, kind, namespace and name. They hold no more than rendering
	// reads, and neither times nor anything else that changes by itself.
	Context []*resource.Resource
	// Skipped says in words what could not be read, and why. Rendering goes on
	// without it.
	Skipped []string
}

// Read asks the cluster for the facts in scope. What is forbidden or not served
// is skipped and said; any other error ends the reading.
func Read(ctx context.Context, c Cluster, scope Scope) (*Result, error) {
	server, err := c.server(ctx)
	if err != nil {
		return nil, err
	}
	r := &reader{cluster: c, scope: scope}
	var questions []want
	if scope.Stream == nil {
		questions = everything(scope.Namespace, server.addOns())
	} else {
		questions = wants(scope.Stream, scope.Namespace, server.addOns())
	}
	if err := r.ask(ctx, questions); err != nil {
		return nil, err
	}
	if err := r.ask(ctx, conflicts(scope, r.found)); err != nil {
		return nil, err
	}
	if scope.wants(clusterFacts) {
		r.skipped = append(server.skipped, r.skipped...)
		r.keep(server.object())
	}
	return r.result(), nil
}

// result sorts what was found and leaves out what was found twice.
func (r *reader) result() *Result {
	slices.SortStableFunc(r.found, func(a, b fact) int { return strings.Compare(a.place, b.place) })
	res := &Result{Skipped: r.skipped}
	last := ""
	for _, f := range r.found {
		if f.place != last {
			last = f.place
			res.Context = append(res.Context, resource.Parsed(f.node, nil, resource.Origin{File: File, Seq: len(res.Context)}))
		}
	}
	return res
}

// place is the identity of an object, in the order of a file of facts.
func place(n *tree.Node) string {
	group := resource.GroupOf(tree.StrAt(n, "apiVersion"))
	kind := tree.StrAt(n, "kind")
	rank := 1
	if kind == clusterFacts {
		rank = 0
	}
	return fmt.Sprint(rank, "\x00", group, "\x00", kind, "\x00", tree.StrAt(n, "metadata", "namespace"), "\x00", tree.StrAt(n, "metadata", "name"))
}
