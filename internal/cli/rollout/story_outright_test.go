package rollout_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
)

// TestRun_OfAReplicaSetThatWasAppliedOutright: the client names the revision in a template that another program has
// written, and recreates the pods, since it does not know what they were made from.
func TestRun_OfAReplicaSetThatWasAppliedOutright(t *testing.T) {
	old := `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web}, spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: "registry.example.com/web:1"}]}}}}`
	s := story.Start(t, 3, old)
	next := strings.ReplaceAll(old, "web:1", "web:2")
	s.Apply(t, story.Namespace, next)
	run := "rollout run -f " + s.File("next.yaml", next) + " --steps 100% --pull-images never --yes"
	s.Run(run).Ends(0, "name the revision in the template", "recreate 3 pods", "completed after")
	s.Has("", images{"web:2": 3})
	s.Run(run).Ends(0, "up to date")
}
