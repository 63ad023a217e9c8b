package patches

import (
	"bytes"
	"encoding/json"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// indexKind is the kind of a written index, of [plan.APIVersion].
const indexKind = "PatchIndex"

type index struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	From       string          `json:"from,omitempty"`
	To         string          `json:"to,omitempty"`
	Sequences  []indexSequence `json:"sequences"`
	Created    []indexTarget   `json:"created,omitempty"`
	Changed    []indexTarget   `json:"changed,omitempty"`
	Deleted    []indexTarget   `json:"deleted,omitempty"`
}

type indexTarget struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

type indexSequence struct {
	Object   indexTarget  `json:"object"`
	For      *indexTarget `json:"for,omitempty"`
	Driver   string       `json:"driver,omitempty"`
	What     []string     `json:"what,omitempty"`
	Method   string       `json:"method,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`
	Steps    []indexStep  `json:"steps"`
}

type indexStep struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	File  string `json:"file"`
	// Target, Type and Subresource are those of the patch in the file; without a
	// target the file holds none.
	Target      *indexTarget     `json:"target,omitempty"`
	Type        string           `json:"type,omitempty"`
	Subresource string           `json:"subresource,omitempty"`
	Commands    []string         `json:"commands,omitempty"`
	Before      []indexCondition `json:"before,omitempty"`
	After       []indexCondition `json:"after,omitempty"`
	Notes       []string         `json:"notes,omitempty"`
}

type indexCondition struct {
	Text  string `json:"text"`
	Check string `json:"check,omitempty"`
}

// index is the set for programs: paths and commands are those of the folder that
// it stands in.
func (s Set) index() ([]byte, error) {
	x := index{
		APIVersion: plan.APIVersion, Kind: indexKind, From: s.From, To: s.To, Sequences: []indexSequence{},
		Created: indexTargets(s.Created), Changed: indexTargets(s.Changed), Deleted: indexTargets(s.Deleted),
	}
	for i := range s.Sequences {
		x.Sequences = append(x.Sequences, s.Sequences[i].index())
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(x)
	return out.Bytes(), err
}

func (q *Sequence) index() indexSequence {
	out := indexSequence{
		Object: indexTarget(q.Object), Driver: q.Driver, What: q.What, Method: q.Method,
		Warnings: q.Warnings, Steps: []indexStep{},
	}
	if q.For != nil {
		out.For = (*indexTarget)(q.For)
	}
	for i := range q.Steps {
		s := &q.Steps[i]
		step := indexStep{
			Name: s.Name, Title: s.Title, File: q.path(i), Commands: q.run(i),
			Before: indexConditions(s.Before), After: indexConditions(s.After), Notes: s.Notes,
		}
		if p := s.Patch; p != nil {
			step.Target, step.Type, step.Subresource = (*indexTarget)(&p.Target), p.Type, p.Subresource
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}

func indexTargets(list []Target) []indexTarget {
	var out []indexTarget
	for _, t := range list {
		out = append(out, indexTarget(t))
	}
	return out
}

func indexConditions(list []Condition) []indexCondition {
	var out []indexCondition
	for _, c := range list {
		out = append(out, indexCondition(c))
	}
	return out
}
