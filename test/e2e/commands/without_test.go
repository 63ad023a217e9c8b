package commands

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// renderedWeb is what rendering makes of the CloneSet web.
const renderedWeb = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {kubectl-kruise.dev/source: cloneset.web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "registry.example.com/web:1"}]}
`

// TestWithoutKruise: where there is no Kruise, verbs do what they can with what was
// rendered, and say what is missing.
func TestWithoutKruise(t *testing.T) {
	t.Parallel()
	c, namespace := cluster.Shared(t)
	b := &bed{c, namespace}
	b.settle(t, renderedWeb, webDeployment)
	b.call(t, "exec", "cloneset/web", "--", "hostname").ends(t, 0, "web-")
	b.call(t, "logs", "clone/web", "--all-pods").ends(t, 0, "main started")
	b.call(t, "debug", "cloneset/web", "--image", "busybox", "--", "date").ends(t, 0, "no Kruise here: container debugger-")
	b.call(t, "debug", "-l", "app=web", "--image", "busybox", "--dry-run=client").ends(t, 2, "this cluster has no Kruise")
	b.call(t, "rollout", "pause", "cloneset/web").prints(t, "deployment.apps/web paused")
	b.call(t, "rollout", "resume", "cloneset/web").prints(t, "deployment.apps/web resumed")
	b.call(t, "get", "all").ends(t, 0, "this cluster serves no kind of Kruise")
	b.call(t, "describe", "deployment/web").ends(t, 0, "Replicas:               2 desired")
	b.call(t, "create", "bcj", "x", "--image", "a:1").ends(t, 1, "the cluster has no kind BroadcastJob", "--dry-run=client -o yaml needs no cluster")
	b.call(t, "create", "bcj", "x", "--image", "a:1", "--dry-run=client").prints(t, "broadcastjob.apps.kruise.io/x created (dry run)")
	for _, args := range []string{
		"get clone", "describe cloneset/web", "logs clone/nobody", "set image cloneset/web main=a:1", "scale cloneset/web --replicas=3", "wait clone/web --for=delete",
		"patch cloneset/web -p {}", "expose cloneset/web --port=80", "autoscale cloneset/web --max=3", "protect cloneset/web", "delete cloneset/web",
		"spread uniteddeployment/web", "create job x --from acj/y", "migrate deployment/web --to CloneSet --dry-run",
	} {
		b.call(t, strings.Fields(args)...).ends(t, 1, "hint: this cluster has no Kruise, or not that kind")
	}
	b.call(t, "get", "nonsense").ends(t, 1, "hint: 'kubectl kruise api-resources' lists the types")
}
