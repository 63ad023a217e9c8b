package kruise

import (
	"context"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// Release is the option that starts a cluster with the definitions of a release of Kruise,
// such as 1.8: the versions and the fields that it serves, and no others. Nodes have no
// daemon.
func Release(tb testing.TB, release string) cluster.Option {
	tb.Helper()
	var definitions []*apiextensionsv1.CustomResourceDefinition
	for _, text := range conformance.Definitions(tb, release) {
		d := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(text, d); err != nil {
			tb.Fatal(err)
		}
		d.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
		definitions = append(definitions, d)
	}
	return cluster.WithAddOn("kruise "+release, func(ctx context.Context, c *cluster.Cluster) error {
		return install(ctx, c, definitions)
	})
}
