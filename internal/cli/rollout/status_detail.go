package rollout

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// expected fails unless the revision that was asked for is the present one.
func (o *statusOptions) expected(ctx context.Context, s *session) error {
	if o.revision == 0 {
		return nil
	}
	snapshot, err := s.Observe(ctx, s.target.Ref)
	if err != nil {
		return err
	}
	now, _ := rules.FindRevision(plan.Revisions(snapshot), snapshot.Object().Template)
	if now.Number != o.revision {
		return fmt.Errorf("desired revision (%d) is different from the running revision (%d)", o.revision, now.Number)
	}
	return nil
}

// details names the updated pods, in the older plugin's words.
func (o *statusOptions) details(ctx context.Context, s *session) error {
	if !o.detail || o.output == "json" {
		return nil
	}
	snapshot, err := s.Observe(ctx, s.target.Ref)
	if err != nil {
		return err
	}
	ready, not := updatedPods(snapshot)
	_, err = fmt.Fprintf(o.factory.Streams.Out, "Updated ready pods: [%s]\nUpdated not ready pods: [%s]\n", strings.Join(ready, " "), strings.Join(not, " "))
	return err
}

// updatedPods are the pods of the present template.
func updatedPods(s plan.Snapshot) (ready, not []string) {
	w := s.Object()
	now, ok := rules.FindRevision(plan.Revisions(s), w.Template)
	for _, p := range s.Members() {
		switch {
		case !ok || !rules.Active(p) || !plan.MadeFrom(w, p, now):
		case rules.Ready(p):
			ready = append(ready, p.Name)
		default:
			not = append(not, p.Name)
		}
	}
	slices.Sort(ready)
	slices.Sort(not)
	return ready, not
}
