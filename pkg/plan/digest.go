package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// digestForm is the version of what a digest is made of: another form has other digests.
const digestForm = "rollout-plan-1"

// Digest identifies what a person approves: the object (by uid) in its cluster, the
// template that it starts from, everything that will be written, asked, pulled and
// restarted, and the limits. Predictions, titles, warnings and time limits are not part of
// it, so that they may be worded and estimated anew. clusterID identifies the cluster, such
// as by the uid of its namespace kube-system. It is "sha256:" and 32 hexadecimal digits.
func (p *Plan) Digest(clusterID string) string {
	var steps []any
	for i := range p.Steps {
		steps = append(steps, approvedStep(&p.Steps[i]))
	}
	text, err := json.Marshal([]any{
		digestForm, clusterID, approvedTarget(&p.Target), p.Driver, p.Change.FromHash, p.Change.ToHash,
		p.Limits, p.Drain, p.Grace, p.RollsBack != "", steps,
	})
	if err != nil {
		return "" // decoded JSON always encodes
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:16])
}

func approvedTarget(t *Target) any {
	out := []any{t.APIVersion, t.Kind, t.Namespace, t.Name, t.UID}
	if t.Carrier != nil {
		out = append(out, approvedTarget(t.Carrier))
	}
	return out
}

// approvedStep is what a step does. The pods of a step are predictions, except where they
// are what the step is for.
func approvedStep(s *Step) any {
	out := map[string]any{
		"kind": s.Kind, "updated": s.Updated, "onFailure": s.OnFailure,
		"pause": s.Pause, "verify": s.Verify, "pull": s.Pull, "containers": s.Containers,
	}
	var patches []any
	for _, p := range s.Patches {
		var target any
		if p.Target != nil {
			target = approvedTarget(p.Target)
		}
		patches = append(patches, []any{target, p.Type, p.Subresource, p.Reached, p.Body})
	}
	out["patches"] = patches
	if s.Kind == StepRecreateContainers {
		var pods []any
		for _, p := range s.Pods {
			pods = append(pods, []any{p.Name, p.UID})
		}
		out["pods"] = pods
	}
	return out
}
