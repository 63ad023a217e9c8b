package clusterread

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const clusterFacts = render.ClusterFactsKind

// serverFacts is what the API server reports about itself.
type serverFacts struct {
	// kubernetes is such as 1.37, "" when the server does not tell.
	kubernetes string
	// versions are the group/versions that it serves, sorted.
	versions []string
	// kruise is the release of Kruise, and how it is known.
	kruise  installation.Found
	skipped []string
}

func (c Cluster) server(ctx context.Context) (*serverFacts, error) {
	versions, err := apiVersions(ctx, c.Discovery)
	if err != nil {
		return nil, err
	}
	s := &serverFacts{versions: versions}
	info, err := c.Discovery.ServerVersionWithContext(ctx)
	switch {
	case err != nil:
		s.skipped = append(s.skipped, fmt.Sprintf("the version of the server: %v", err))
	case info.Major == "" || info.Minor == "":
		s.skipped = append(s.skipped, "the version of the server: it does not say")
	default:
		s.kubernetes = info.Major + "." + strings.TrimRight(info.Minor, "+")
	}
	if slices.ContainsFunc(versions, func(v string) bool { return strings.HasPrefix(v, kruise.Group+"/") }) {
		s.kruise = installation.Read(ctx, c.Objects, c.Discovery)
	}
	return s, nil
}

// addOns returns the newest version of each group that is served only where
// it was installed.
func (s *serverFacts) addOns() map[string]string {
	served := map[string]string{}
	for _, group := range []string{kruise.Group, kruise.PolicyGroup, scaledObjects.group} {
		for _, v := range []string{kruise.V1alpha1, kruise.V1beta1} {
			if slices.Contains(s.versions, group+"/"+v) {
				served[group] = v
			}
		}
	}
	return served
}

// object returns what --with understands.
func (s *serverFacts) object() map[string]any {
	versions := make([]any, len(s.versions))
	for i, v := range s.versions {
		versions[i] = v
	}
	spec := map[string]any{"apiVersions": versions}
	if s.kubernetes != "" {
		spec["kubernetesVersion"] = s.kubernetes
	}
	if s.kruise.Sure {
		spec["kruise"] = s.kruise.Release.String()
	}
	return map[string]any{
		"apiVersion": render.ClusterFactsVersion, "kind": clusterFacts,
		"metadata": map[string]any{"name": "cluster"}, "spec": spec,
	}
}

// apiVersions returns the group/versions that the server serves, sorted.
func apiVersions(ctx context.Context, d *discovery.DiscoveryClient) ([]string, error) {
	groups, err := d.ServerGroupsWithContext(ctx)
	if err != nil {
		return nil, &resource.Error{
			Err:  fmt.Errorf("cannot ask the cluster what it serves: %w", err),
			Hint: "check --kubeconfig and --context; rendering asks a cluster for --live and --target auto alone",
		}
	}
	var versions []string
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			versions = append(versions, v.GroupVersion)
		}
	}
	slices.Sort(versions)
	return versions, nil
}

// ServedVersion is the newest version in which the cluster serves a kind of Kruise's group of
// workloads, by its plural; "" where it has none.
func ServedVersion(d discovery.ServerResourcesInterface, plural string) (version string, err error) {
	for _, version := range []string{kruise.V1beta1, kruise.V1alpha1} {
		list, err := d.ServerResourcesForGroupVersion(kruise.Group + "/" + version)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return "", errors.Join(errors.New("cannot find out whether the cluster has Kruise"), err)
		}
		if slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == plural }) {
			return version, nil
		}
	}
	return "", nil
}
