package cluster

import "strings"

// Revision is one stored template of a workload, a ControllerRevision in the
// cluster (docs/kruise/workloads.md#revisions and docs/kruise/workloads.md#kubectl-operations).
type Revision struct {
	// Name is the full name, WORKLOAD-HASH.
	Name string
	// Number rises with every use; the largest is the newest.
	Number int64
	// Template is spec.template as decoded JSON, without "$patch".
	Template map[string]any
	// ClaimsHash stands for the volume claim templates; only CloneSets have it.
	ClaimsHash string
	// Cause is why it came, where somebody said so.
	Cause string
}

// Hash returns what identifies a revision: the text after the last dash.
// CloneSets put the full name on their pods, or only the hash with the gate
// CloneSetShortHash; DaemonSets always the hash (docs/kruise/workloads.md#revisions and
// docs/kruise/workloads.md#advanced-daemonset).
func Hash(revision string) string {
	return revision[strings.LastIndexByte(revision, '-')+1:]
}
