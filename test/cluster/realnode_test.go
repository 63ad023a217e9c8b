package cluster_test

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

func TestRealNode(t *testing.T) {
	c := cluster.Start(t, cluster.WithRealNode(t))
	c.Apply(t, "default", realPod("web", ""))
	awaitPod(t, c, "default", "web", ready)
}

func realPod(name, spec string) string {
	return `
apiVersion: v1
kind: Pod
metadata: {name: ` + name + `}
spec:
  terminationGracePeriodSeconds: 1
  ` + spec + `
  containers: [{name: app, image: "registry.test/app:1"}]
`
}
