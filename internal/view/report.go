package view

import (
	"encoding/json"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Report is what --report writes: everything that stderr says, for machines.
type Report struct {
	APIVersion   string        `json:"apiVersion"`
	Kind         string        `json:"kind"`
	Input        int           `json:"inputObjects"`
	Output       int           `json:"outputObjects"`
	Worst        string        `json:"worst"`
	Findings     []reported    `json:"findings"`
	Explanations []explanation `json:"explanations,omitempty"`
}

type object struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

type reported struct {
	Object object `json:"object"`
	finding.Finding
}

type explanation struct {
	Template   object `json:"template"`
	Path       string `json:"path,omitempty"`
	SidecarSet string `json:"sidecarSet"`
	Injected   bool   `json:"injected"`
	Reason     string `json:"reason"`
}

// NewReport gathers a render's results. in and out count objects.
func NewReport(in, out int, findings []finding.Finding, explained []stage.Explanation) Report {
	r := Report{
		APIVersion: plan.APIVersion, Kind: "RenderReport",
		Input: in, Output: out, Worst: string(finding.Worst(findings)), Findings: []reported{},
	}
	for _, f := range findings {
		r.Findings = append(r.Findings, reported{Object: named(f.Object), Finding: f})
	}
	for _, e := range explained {
		r.Explanations = append(r.Explanations, explanation{Template: named(e.Template), Path: e.Path, SidecarSet: e.SidecarSet, Injected: e.Injected, Reason: e.Reason})
	}
	return r
}

func named(id resource.ID) object {
	return object{Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
}

// JSON returns the report indented, with a final newline.
func (r Report) JSON() ([]byte, error) {
	b, err := json.MarshalIndent(r, "", "  ")
	return append(b, '\n'), err
}
