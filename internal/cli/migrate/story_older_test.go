package migrate_test

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
)

// TestMigrate_TheOlderForm creates the new workload without replicas, once; then they move to it.
func TestMigrate_TheOlderForm(t *testing.T) {
	s := story.Start(t, 4, deployment)
	older := "migrate CloneSet --from Deployment --src-name web --dst-name web --yes"
	s.Run(older+" --replicas 1").Ends(1, "CloneSet/web does not exist", "make it first, with --create")
	s.Run(older+" --create").Ends(0, "Successfully created from Deployment/web to CloneSet/web")
	has(s, 4, 0)
	s.Run(older+" --create").Ends(1, "CloneSet/web exists already", "without --create, replicas move to it")
	s.Run(older+" --replicas 4").Ends(0, "Successfully migrated 4 replicas from Deployment/web to CloneSet/web")
	has(s, 0, 4)
}
