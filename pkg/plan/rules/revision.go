package rules

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// FindRevision returns the stored revision with this template, the newest if
// there are several. A workload whose template equals an older revision goes
// back to that one, under its old name; any other difference in spec.template,
// labels and annotations included, makes a new one (docs/kruise/workloads.md#revisions).
func FindRevision(list []cluster.Revision, template map[string]any) (cluster.Revision, bool) {
	var best cluster.Revision
	found := false
	for _, r := range list {
		if SameTemplate(r.Template, template) && (!found || r.Number > best.Number) {
			best, found = r, true
		}
	}
	return best, found
}

// SameTemplate reports whether two templates make the same revision. Nulls and
// metadata.creationTimestamp, which some serializers write, do not count. What
// has no spec is no pod template, but what a SidecarSet puts into pods.
func SameTemplate(a, b map[string]any) bool {
	return len(tree.Differences(nil, revisable(a), revisable(b))) == 0
}

func revisable(template map[string]any) map[string]any {
	if _, pod := template["spec"]; pod {
		return withMetadata(template)
	}
	return template
}

// NextRevisionNumber is the number of a revision that is made or reused now.
func NextRevisionNumber(list []cluster.Revision) int64 {
	var most int64
	for _, r := range list {
		most = max(most, r.Number)
	}
	return most + 1
}

// CloneSetCurrent returns what status.currentRevision becomes: the update
// revision once every pod carries it, ready or not, and until then the one it
// was, whatever comes between (docs/kruise/workloads.md#revisions).
func CloneSetCurrent(current, update string, updated, total, replicas int) string {
	if current == "" || (updated == total && total == replicas) {
		return update
	}
	return current
}
