package cluster_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

func TestShared_Serves(t *testing.T) {
	c, namespace := cluster.Shared(t)
	got, err := c.Version()
	if err != nil {
		t.Fatal(err)
	}
	if v := version.MustParseSemantic(got); v.Minor() < 36 {
		t.Errorf("server is %s", got)
	}
	stored := c.Apply(t, namespace, `
apiVersion: v1
kind: ConfigMap
metadata: {name: here}
data: {a: b}
`)
	if stored[0].GetNamespace() != namespace {
		t.Errorf("stored in %s", stored[0].GetNamespace())
	}
}
