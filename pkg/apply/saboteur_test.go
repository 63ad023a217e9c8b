package apply_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 6
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}]}
`

// TestSaboteur_RecordCausesNothingUnapproved: a rollout of 6 pods waits after the first, its record is edited in
// every part, and a user without an approval continues it, retries it or takes it back. Nothing is
// asked or pulled, template and replicas are those of the rollout, and no more pods than those of
// the next original step, 3, are updated.
func TestSaboteur_RecordCausesNothingUnapproved(t *testing.T) {
	verbs := map[string]func(library, *memory, apply.Options) error{
		"promote": func(r library, m *memory, o apply.Options) error {
			return transit(r, m, apply.Act{Transition: plan.TransitionPromote}, o)
		},
		"promote --full": func(r library, m *memory, o apply.Options) error {
			return transit(r, m, apply.Act{Transition: plan.TransitionPromote, How: plan.Promotion{Full: true}}, o)
		},
		"resume": func(r library, m *memory, o apply.Options) error {
			return transit(r, m, apply.Act{Transition: plan.TransitionResume}, o)
		},
		"retry": func(r library, m *memory, o apply.Options) error {
			return transit(r, m, apply.Act{Transition: plan.TransitionRetry}, o)
		},
		"drive": func(r library, m *memory, o apply.Options) error {
			_, err := r.Drive(m.t.Context(), m.ref, o)
			return err
		},
		"abort --rollback": func(r library, m *memory, o apply.Options) error {
			_, err := r.RollBack(m.t.Context(), m.ref, o)
			return err
		},
	}
	for kind, doc := range map[string]string{"CloneSet": cloneSet, "ReplicaSet": strings.Replace(replicaSet, "replicas: 4", "replicas: 6", 1), "Deployment": deployment} {
		for name, edit := range sabotages {
			for verb, do := range verbs {
				t.Run(kind+"/"+name+"/"+verb, func(t *testing.T) {
					policy := plan.Policy{Steps: steps(t, "1+pause", "3+pause", "100%"), Pull: plan.PullNever}
					if kind == "ReplicaSet" {
						policy.Driver = plan.DriverClient
					}
					r, m := rollouts(t, doc, simulate.DefaultOptions(), policy)
					m.t = t
					res, err := r.Run(t.Context(), m.ref, m.plan, apply.Options{AtPause: true})
					must(t, err)
					if n := m.images(t)["web:2"]; res.Outcome != event.AtPause || n == 0 || n > 2 {
						t.Fatalf("%+v, %v", res, m.images(t))
					}
					text, err := planfile.Write(m.rec.Plan)
					must(t, err)
					p, err := planfile.Read(text)
					must(t, err)
					s, err := m.Snapshot(m.ref)
					must(t, err)
					progress := s.Progress
					edit(&p, &progress)
					m.rec.Plan = p
					must(t, m.Record(t.Context(), m.ref, s.Version, progress))
					pulled := false
					err = do(r, m, apply.Options{AtPause: true, Emit: func(e event.Event) {
						pulled = pulled || strings.HasPrefix(e.Request, "pull ")
					}})
					most := 3
					if kind == "Deployment" {
						most++ // its controller is paused once it has brought out as many
					}
					m.unharmed(t, most, err)
					after, gone := m.Snapshot(m.ref)
					must(t, gone)
					if asked := len(after.Verified) > 0; asked || pulled {
						t.Errorf("asked: %t, pulled: %t, %v", asked, pulled, err)
					}
					if name == "nothing" && verb == "promote" && (err != nil || m.images(t)["web:2"] < 3) {
						t.Errorf("an untouched record is not continued: %v, %v", err, m.images(t))
					}
				})
			}
		}
	}
}

// transit makes a transition and carries out what may be.
func transit(r library, m *memory, turn apply.Act, o apply.Options) error {
	turn.Continues = true
	done, err := r.Do(m.t.Context(), m.ref, turn)
	if err != nil || done.Executor == nil {
		return errors.Join(err, done.Elsewhere)
	}
	_, err = done.Executor.Run(o)
	return err
}

// unharmed fails where the workload is what the original plan does not have.
func (m *memory) unharmed(t *testing.T, most int, err error) {
	t.Helper()
	s, _ := m.Snapshot(m.ref)
	images := m.images(t)
	if n, _ := cluster.Of(s.Workload.Object).Replicas(); n != 6 || len(s.Workload.Template) == 0 {
		t.Errorf("%d replicas: %v", n, err)
	}
	for image := range images {
		if image != "web:1" && image != "web:2" {
			t.Errorf("%v: %v", images, err)
		}
	}
	if spec, _ := s.Workload.Template["spec"].(map[string]any); spec["hostNetwork"] != nil {
		t.Errorf("hostNetwork is written: %v", err)
	}
	if images["web:2"] > most {
		t.Errorf("%d pods are updated, %d at most: %v", images["web:2"], most, err)
	}
}

// sabotages edit what a record holds.
var sabotages = map[string]func(*plan.Plan, *plan.Progress){
	"nothing": func(*plan.Plan, *plan.Progress) {},
	"the second step updates all": func(p *plan.Plan, _ *plan.Progress) {
		last := p.Steps[len(p.Steps)-1]
		for i := range p.Steps {
			if p.Steps[i].Updated == 3 && p.Steps[i].Kind == last.Kind {
				p.Steps[i].Patches = last.Patches
			}
		}
	},
	"the second step is the last": func(p *plan.Plan, _ *plan.Progress) {
		last := p.Steps[len(p.Steps)-1]
		i := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.Updated == 3 })
		last.Before = p.Steps[i].Before
		p.Steps = append(p.Steps[:i:i], last)
	},
	"all is called the second step": func(p *plan.Plan, _ *plan.Progress) {
		last := p.Steps[len(p.Steps)-1]
		i := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.Updated == 3 })
		last.Name, last.Title, last.Updated, last.Before, last.After = p.Steps[i].Name, p.Steps[i].Title, 3, nil, nil
		p.Steps[i] = last
	},
	"no pauses": func(p *plan.Plan, _ *plan.Progress) {
		p.Steps = slices.DeleteFunc(p.Steps, func(s plan.Step) bool { return s.Kind == plan.StepPause })
	},
	"short pauses": func(p *plan.Plan, _ *plan.Progress) {
		for i := range p.Steps {
			if p.Steps[i].Kind == plan.StepPause {
				p.Steps[i].Pause = &plan.Pause{For: 1}
			}
		}
	},
	"nothing to wait for": func(p *plan.Plan, _ *plan.Progress) {
		for i := range p.Steps {
			p.Steps[i].After = nil
		}
	},
	"no conditions": func(p *plan.Plan, _ *plan.Progress) {
		for i := range p.Steps {
			p.Steps[i].Before, p.Steps[i].After = nil, nil
		}
	},
	"a URL":                 inserted(plan.Step{Name: "v", Kind: plan.StepVerify, Title: "v", Verify: &plan.Verify{URL: "http://127.0.0.1:1/"}}),
	"Prometheus":            inserted(plan.Step{Name: "v", Kind: plan.StepVerify, Title: "v", Verify: &plan.Verify{Prometheus: "http://127.0.0.1:1/", Query: "up", Threshold: "> 0"}}),
	"a command":             inserted(plan.Step{Name: "v", Kind: plan.StepVerify, Title: "v", Verify: &plan.Verify{Command: []string{"true"}}}),
	"a Job":                 inserted(plan.Step{Name: "v", Kind: plan.StepVerify, Title: "v", Verify: &plan.Verify{Job: map[string]any{"spec": map[string]any{}}}}),
	"a pull":                inserted(plan.Step{Name: "x", Kind: plan.StepPullImages, Title: "x", Pull: &plan.Pull{Images: []string{"miner:1"}}}),
	"known images":          inserted(plan.Step{Name: "x", Kind: plan.StepPullImages, Title: "x", Pull: &plan.Pull{Images: []string{"web:2"}}}),
	"replicas in an update": inserted(plan.Step{Name: "x", Kind: plan.StepUpdate, Title: "x", Patches: []plan.Patch{replaced("/spec/replicas", 0)}}),
	"a template":            inserted(plan.Step{Name: "x", Kind: plan.StepUpdate, Title: "x", Patches: []plan.Patch{replaced("/spec/template/spec/hostNetwork", true)}}),
	"a way back with a template between": func(p *plan.Plan, _ *plan.Progress) {
		p.RollbackReason = "it failed"
		p.Steps = []plan.Step{
			{Name: "a", Kind: plan.StepUpdate, Title: "a", Patches: []plan.Patch{replaced("/spec/template/spec/hostNetwork", true)}},
			{Name: "b", Kind: plan.StepUpdate, Title: "b", Patches: []plan.Patch{replaced("/spec/template/spec/containers/0/image", "web:1"), removed("/spec/template/spec/hostNetwork")}},
		}
	},
	"a way back without pods": func(p *plan.Plan, progress *plan.Progress) {
		p.RollbackReason = "it failed"
		p.Steps = []plan.Step{{Name: "a", Kind: plan.StepUpdate, Title: "a", Patches: []plan.Patch{replaced("/spec/template/spec/containers/0/image", "web:1"), replaced("/spec/replicas", 0)}}}
		progress.Step = 0
	},
	"goes back where it fails": func(p *plan.Plan, progress *plan.Progress) {
		for i := range p.Steps {
			p.Steps[i].OnFailure = plan.FailRollback
		}
		p.Change.FromHash, progress.Failed = "0000000000000000", "it failed"
	},
	"a step ahead": func(p *plan.Plan, progress *plan.Progress) { progress.Step = len(p.Steps) - 1 },
	"promoted":     func(p *plan.Plan, progress *plan.Progress) { progress.Promoted, progress.FirstCountingPause = true, 99 },
	"failed":       func(_ *plan.Plan, progress *plan.Progress) { progress.Failed = "it failed" },
	"a stop by the partition": func(_ *plan.Plan, progress *plan.Progress) {
		progress.Stop = plan.ControllerStop{Field: plan.StopPartition, Was: "0", Is: "5", Done: true}
	},
	"a stop by the pause": func(_ *plan.Plan, progress *plan.Progress) {
		progress.Stop = plan.ControllerStop{Field: plan.StopPaused, Was: "false", Is: "true", Done: true}
	},
	"other limits": func(p *plan.Plan, _ *plan.Progress) {
		p.Limits.MaxUnavailable, p.Limits.MaxSurge, p.Limits.MinReady, p.Grace, p.Drain = 100, 100, 0, 0, plan.DrainNone
	},
	"another driver": func(p *plan.Plan, _ *plan.Progress) {
		p.Driver = plan.DriverClient
		for i := range p.Steps {
			p.Steps[i].Kind, p.Steps[i].Patches, p.Steps[i].Updated = plan.StepRecreate, nil, 6
		}
	},
}

// inserted has a step come next.
func inserted(step plan.Step) func(*plan.Plan, *plan.Progress) {
	return func(p *plan.Plan, progress *plan.Progress) {
		p.Steps = slices.Insert(p.Steps, progress.Step+1, step)
	}
}

func replaced(path string, value any) plan.Patch {
	return plan.Patch{Type: plan.PatchJSON, Body: []any{map[string]any{"op": "add", "path": path, "value": value}}}
}

func removed(path string) plan.Patch {
	return plan.Patch{Type: plan.PatchJSON, Body: []any{map[string]any{"op": "remove", "path": path}}}
}
