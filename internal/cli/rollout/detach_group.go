package rollout

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/runner"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// groupSpec is what the Job of a group is for.
func (d runnerJobs) groupSpec(ctx context.Context, rec plan.Rollout) (runner.Spec, error) {
	out, identity, err := d.specOf(ctx, runner.GroupRef(rec.Namespace, rec.Name), rec.Plans())
	if err != nil {
		return out, err
	}
	out.Digest = rec.Digest(identity)
	if d.timeout == 0 {
		out.Deadline = runner.GroupDeadline(rec.Plans())
	}
	return out, nil
}

// detachAll records a group and has a Job carry it out.
func (o groupOfRun) detachAll(ctx context.Context, g *madeGroup) error {
	if err := o.detachesBegun(ctx, g); err != nil {
		return err
	}
	spec, err := o.jobs().groupSpec(ctx, g.record)
	if err != nil {
		return err
	}
	if err := o.jobs().create(ctx, spec, true); err != nil {
		return err
	}
	known := &groupApprovals{approvals: approvals{o.common}}
	if err := known.approve(ctx, g); err != nil {
		return err
	}
	groups, err := o.groups(known, nil)
	if err != nil {
		return err
	}
	if err := groups.Record(ctx, g.record); err != nil {
		return groupHinted(g.record.Name, err)
	}
	return o.jobs().create(ctx, spec, false)
}

// detachesBegun refuses rollouts in progress that the user has not approved: the digest of the
// group would approve them.
func (o groupOfRun) detachesBegun(ctx context.Context, g *madeGroup) error {
	for _, p := range g.parts {
		if !p.begun {
			continue
		}
		known, err := approvals{o.common}.Approved(ctx, p.plan)
		if err != nil {
			return err
		}
		if !known {
			return &resource.Error{
				Err:  fmt.Errorf("the rollout of %s is in progress, and its plan was not approved on this machine", p.ref()),
				Hint: "'kubectl kruise rollout resume' carries it out by itself",
			}
		}
	}
	return nil
}

// previewJob are the requests that create the Job.
func (o groupOfRun) previewJob(ctx context.Context, g *madeGroup) error {
	if !o.detach.on {
		return nil
	}
	spec, err := o.jobs().groupSpec(ctx, g.record)
	if err != nil {
		return err
	}
	return o.jobs().previewCreate(ctx, spec)
}

// detachGroupRecord has a Job carry out what is left of the recorded group, which the user
// has approved.
func (o *control) detachGroupRecord(ctx context.Context, rec plan.Rollout, change func() error) error {
	spec, err := o.jobs().groupSpec(ctx, rec)
	if err != nil {
		return err
	}
	if err := o.jobs().create(ctx, spec, true); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	return o.jobs().create(ctx, spec, false)
}

// mostManifest is how many bytes the plans of a group may take in a ConfigMap.
const mostManifest = 900 << 10

// printManifest prints what --detach would create. The plans are in it, since no record
// has them.
func (o groupOfRun) printManifest(ctx context.Context, g *madeGroup) error {
	spec, err := o.jobs().groupSpec(ctx, g.record)
	if err != nil {
		return err
	}
	for _, p := range g.parts {
		if p.begun {
			return &resource.Error{
				Err:  fmt.Errorf("the rollout of %s is in progress, and a manifest is for rollouts that have not started", p.ref()),
				Hint: "'kubectl kruise rollout run' without --manifest continues it",
			}
		}
		if err := noSecretIn(&p.plan); err != nil {
			return fmt.Errorf("%s: %w", p.ref(), err)
		}
	}
	if spec.Plan, err = writeGroup(g.record); err != nil {
		return err
	}
	if len(spec.Plan) > mostManifest {
		return &resource.Error{
			Err:  fmt.Errorf("the plans of %s take %d KiB of the %d that a ConfigMap may hold", counted.Of(len(g.parts), "rollout"), len(spec.Plan)>>10, mostManifest>>10),
			Hint: "make several groups, or leave --manifest out: the record is compressed",
		}
	}
	_, _ = fmt.Fprintf(o.factory.Streams.Err, "group %s: %s\n", g.record.Name, spec.Digest)
	return o.jobs().printJob(spec)
}

// groupFile is the first document of a group in a file; those of its plans follow, in the
// order of the members.
type groupFile struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Namespace  string            `json:"namespace"`
	Name       string            `json:"name"`
	Limits     groupFileLimits   `json:"limits"`
	Members    []groupFileMember `json:"members"`
}

type groupFileLimits struct {
	Parallel       int `json:"parallel,omitempty"`
	MaxUnavailable int `json:"maxUnavailable,omitempty"`
	MaxFailures    int `json:"maxFailures,omitempty"`
}

type groupFileMember struct {
	Workload  groupFileRef   `json:"workload"`
	Wave      int            `json:"wave"`
	DependsOn []groupFileRef `json:"dependsOn,omitempty"`
}

type groupFileRef struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

func fileRef(r cluster.Ref) groupFileRef {
	return groupFileRef{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

func (r groupFileRef) ref() cluster.Ref {
	return cluster.Ref{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

const (
	groupFileVersion = "kubectl-kruise.dev/v1alpha1"
	groupFileKind    = "RolloutGroup"
)

// documentEnd is the line between two documents, which no plan has.
const documentEnd = "\n---\n"

// writeGroup is the text of a group with its plans, which readGroup takes.
func writeGroup(rec plan.Rollout) ([]byte, error) {
	l := rec.Bounds
	f := groupFile{
		APIVersion: groupFileVersion, Kind: groupFileKind, Namespace: rec.Namespace, Name: rec.Name,
		Limits: groupFileLimits{Parallel: l.Parallel, MaxUnavailable: l.MaxUnavailable, MaxFailures: l.MaxFailures},
	}
	for _, m := range rec.Members {
		one := groupFileMember{Workload: fileRef(m.Ref), Wave: m.Wave}
		for _, ref := range m.DependsOn {
			one.DependsOn = append(one.DependsOn, fileRef(ref))
		}
		f.Members = append(f.Members, one)
	}
	text, err := yaml.Marshal(f)
	if err != nil {
		return nil, err
	}
	documents := [][]byte{bytes.TrimSpace(text)}
	for i := range rec.Members {
		text, err := planfile.Write(rec.Members[i].Plan)
		if err != nil {
			return nil, err
		}
		documents = append(documents, bytes.TrimSpace(text))
	}
	all := append(bytes.Join(documents, []byte(documentEnd)), '\n')
	_, err = parseGroup(all)
	return all, err
}

// readGroup reads a group as writeGroup writes it. No member has a rollout before it.
func readGroup(file string) (plan.Rollout, error) {
	text, err := load.File(file, nil, 0)
	if err != nil {
		return plan.Rollout{}, err
	}
	rec, err := parseGroup(text)
	if err != nil {
		return rec, fmt.Errorf("%s has no group of rollouts: %w", file, err)
	}
	return rec, nil
}

func parseGroup(text []byte) (plan.Rollout, error) {
	documents := bytes.Split(text, []byte(documentEnd))
	var f groupFile
	if err := yaml.UnmarshalStrict(documents[0], &f); err != nil {
		return plan.Rollout{}, err
	}
	if f.APIVersion != groupFileVersion || f.Kind != groupFileKind {
		return plan.Rollout{}, fmt.Errorf("it is a %q of %q", f.Kind, f.APIVersion)
	}
	out := plan.Rollout{
		Namespace: f.Namespace, Name: f.Name,
		Bounds: plan.Bounds{Parallel: f.Limits.Parallel, MaxUnavailable: f.Limits.MaxUnavailable, MaxFailures: f.Limits.MaxFailures},
	}
	if len(documents) != len(f.Members)+1 {
		return out, fmt.Errorf("it is inconsistent: members: %d, plans: %d", len(f.Members), len(documents)-1)
	}
	for i, one := range f.Members {
		m := plan.Member{Ref: one.Workload.ref(), Wave: one.Wave}
		for _, ref := range one.DependsOn {
			m.DependsOn = append(m.DependsOn, ref.ref())
		}
		var err error
		if m.Plan, err = planfile.Read(documents[i+1]); err != nil {
			return out, err
		}
		out.Members = append(out.Members, m)
	}
	return out, out.Check()
}

// beginsAfter fills in when the rollout was begun that each member has recorded now: the group
// begins after those.
func beginsAfter(ctx context.Context, rollouts apply.Rollouts, rec *plan.Rollout) error {
	for i, m := range rec.Members {
		one, err := rollouts.Get(ctx, m.Ref)
		if err != nil && !errors.Is(err, plan.ErrNoRollout) {
			return err
		}
		if err == nil {
			rec.Members[i].Before = one.Begun
		}
	}
	return nil
}
