package execute

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// groupFile is the first document of a group in a file; those of its plans follow, in the
// order of the members.
type groupFile struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	plan.Rollout
}

const (
	groupFileVersion = "kubectl-kruise.dev/v1alpha1"
	groupFileKind    = "RolloutGroup"
)

// unbegun is what a file has of a rollout: no digest covers how far it has come.
func unbegun(r *plan.Rollout) plan.Rollout {
	out := plan.Rollout{Namespace: r.Namespace, Name: r.Name, Bounds: r.Bounds}
	for _, m := range r.Members {
		out.Members = append(out.Members, plan.Member{Ref: m.Ref, Wave: m.Wave, DependsOn: m.DependsOn})
	}
	return out
}

// documentEnd is the line between two documents, which no plan has.
const documentEnd = "\n---\n"

// writeRollout is the text of a rollout with its plans, which readRollout takes. One without a name
// is its plan.
func writeRollout(rec *plan.Rollout) ([]byte, error) {
	if rec.Name == "" {
		return planfile.Write(rec.Members[0].Plan)
	}
	f := groupFile{groupFileVersion, groupFileKind, unbegun(rec)}
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

// ReadRollout reads what writeRollout writes; of is the name of the group, "" for a plan. No member
// has a rollout before it.
func ReadRollout(file, of string) (plan.Rollout, error) {
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
	out := unbegun(&f.Rollout)
	if !reflect.DeepEqual(out, f.Rollout) {
		return out, errors.New("it has begun, and a file has rollouts that have not")
	}
	if len(documents) != len(out.Members)+1 {
		return out, fmt.Errorf("it is inconsistent: members: %d, plans: %d", len(out.Members), len(documents)-1)
	}
	for i := range out.Members {
		var err error
		if out.Members[i].Plan, err = planfile.Read(documents[i+1]); err != nil {
			return out, err
		}
	}
	return out, out.Check()
}
