package rollout

import (
	"bytes"
	"errors"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

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

// writeRollout is the text of a rollout with its plans, which readRollout takes. One without a name
// is its plan.
func writeRollout(rec *plan.Rollout) ([]byte, error) {
	if rec.Name == "" {
		return planfile.Write(rec.Members[0].Plan)
	}
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

// readRollout reads what writeRollout writes; of is the name of the group, "" for a plan. No member
// has a rollout before it.
func readRollout(file, of string) (plan.Rollout, error) {
	if of == "" {
		p, err := planning.ReadPlan(file, nil)
		return plan.RolloutOf(p), err
	}
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
	if f.Name == "" {
		return plan.Rollout{}, errors.New("it has no name")
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
