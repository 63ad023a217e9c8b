package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// begun is a StatefulSet of five pods in the middle of an update under partition 2:
// the lower two carry the template of before, which is returned.
func begun(t *testing.T, api, rolling string) (plan.Snapshot, string) {
	t.Helper()
	before := manifest(api, "StatefulSet", plain+"  replicas: 5\n  podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {partition: 2"+rolling+"}}\n")
	s := snapshot(t, strings.ReplaceAll(before, "web:1", newer), 5)
	s.Revisions = append(s.Revisions, cluster.Revision{Name: "web-older", Number: 0, Template: read(t, before).Template})
	for i, p := range s.Pods {
		p.Name = fmt.Sprintf("web-%d", i)
		if i < 2 {
			p.Labels["controller-revision-hash"] = "web-older"
		}
	}
	return s, before
}

// TestUndoUnderPartition: in order, the top ordinals go back under the same partition,
// and those below it are there already; without order, so many pods as the partition
// lets follow are enough, whichever they are (docs/kruise/workloads.md#kubectl-operations).
func TestUndoUnderPartition(t *testing.T) {
	for _, c := range []struct{ name, api, rolling, steps, want, partitions string }{
		{"as it comes", beta, "", "", "update 3/2:1, step-100% 5/0:2", "4 2"},
		{"at once", beta, "", "100%", "update 5/0:3", "2"},
		{"in steps", beta, "", "3,4,100%", "update 3/2:1, step-4 4/1:1, step-100% 5/0:1", "4 3 2"},
		{"native", "apps/v1", "", "4,100%", "update 4/1:2, step-100% 5/0:1", "3 2"},
		{"unordered", beta, ", unorderedUpdate: {}", "", "update 3/2:1", "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, before := begun(t, c.api, c.rolling)
			policy := plan.Policy{Pull: plan.PullNever}
			if c.steps != "" {
				policy.Steps = must(plan.ParseSteps(c.steps))
			}
			p, err := plan.Build(read(t, before), s, policy)
			if err != nil {
				t.Fatal(err)
			}
			var partitions []string
			for _, step := range p.Steps {
				for _, after := range step.After {
					if after.Type == plan.HoldsPartition {
						partitions = append(partitions, after.Value)
					}
				}
			}
			if got := outline(p); got != c.want || strings.Join(partitions, " ") != c.partitions {
				t.Errorf("%s with partitions %s, want %s with %s", got, partitions, c.want, c.partitions)
			}
		})
	}
}

// TestLookUnderPartition: pods below the partition that carry the template count with
// those that the partition lets follow.
func TestLookUnderPartition(t *testing.T) {
	s, before := begun(t, beta, "")
	s.Workload = read(t, before)
	if o, ok := plan.Look(s, time.Now()); !ok || o.Allowed != 5 || o.Total != 5 {
		t.Errorf("%+v", o)
	}
}
