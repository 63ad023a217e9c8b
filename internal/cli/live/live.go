// Package live reads from a cluster the facts that rendering needs and that
// files cannot give: which namespaces exist, what the subsets of a
// UnitedDeployment run now, which SidecarSet revisions are stored. It reads
// and never writes, and reads no Secret.
package live

import (
	"context"
	"fmt"
	"sort"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// File is the origin that context objects from a cluster carry.
const File = "(cluster)"

// pageSize bounds one answer of the API server.
const pageSize = 500

// Result is what a cluster told.
type Result struct {
	// Context are the objects for render.Options.Context.
	Context []*resource.Resource
	// APIVersions are the group/versions that the server serves, sorted.
	APIVersions []string
	// Skipped says in words what could not be read, and why. Rendering goes on
	// without it.
	Skipped []string
}

// Read asks the cluster for everything in the list of wants that stream makes
// necessary. What is forbidden or not served is skipped and said; any other
// error ends the reading.
func Read(ctx context.Context, c dynamic.Interface, d *discovery.DiscoveryClient, stream []*resource.Resource, namespace string) (*Result, error) {
	versions, err := APIVersions(ctx, d)
	if err != nil {
		return nil, err
	}
	res := &Result{APIVersions: versions}
	served := map[string]bool{}
	for _, v := range versions {
		served[v] = true
	}
	for _, w := range wants(stream, namespace, served) {
		if err := res.add(ctx, c, w); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// APIVersions returns the group/versions that the server serves, sorted.
func APIVersions(ctx context.Context, d *discovery.DiscoveryClient) ([]string, error) {
	groups, err := d.ServerGroupsWithContext(ctx)
	if err != nil {
		return nil, &resource.Error{
			Err:  fmt.Errorf("cannot ask the cluster what it serves: %w", err),
			Hint: "check --kubeconfig and --context; without --live and --target auto no cluster is needed",
		}
	}
	var versions []string
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			versions = append(versions, v.GroupVersion)
		}
	}
	sort.Strings(versions)
	return versions, nil
}

func (res *Result) add(ctx context.Context, c dynamic.Interface, w want) error {
	opt := metav1.ListOptions{LabelSelector: w.selector, FieldSelector: w.fields, Limit: pageSize}
	for {
		list, err := c.Resource(w.resource).Namespace(w.namespace).List(ctx, opt)
		if apierrors.IsNotFound(err) && w.older != "" {
			w.resource.Version, w.older = w.older, ""
			continue
		}
		if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
			res.Skipped = append(res.Skipped, fmt.Sprintf("%s: %v", w.what, err))
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot read %s for --live: %w", w.what, err)
		}
		for i := range list.Items {
			res.Context = append(res.Context, convert(&list.Items[i]))
		}
		if opt.Continue = list.GetContinue(); opt.Continue == "" {
			return nil
		}
	}
}

// convert drops what no stage reads and what only makes output long.
func convert(u *unstructured.Unstructured) *resource.Resource {
	unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
	return resource.Parsed(tree.FromValue(u.Object), nil, resource.Origin{File: File})
}

// want is one question to the API server.
type want struct {
	what     string
	resource schema.GroupVersionResource
	// older is the version to ask for when the server has no such resource in
	// that of resource: releases of Kruise serve a version for some kinds only.
	older            string
	namespace        string
	selector, fields string
}
