package patches

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// File is one file of a written set; Name has slashes.
type File struct {
	Name string
	Body []byte
}

// The files beside the folders of the sequences.
const (
	readmeFile = "README.md"
	indexFile  = "index.json"
)

// Files writes a set: README.md for readers, index.json for programs, and for each sequence a
// folder with one numbered file per step. A file that ends in .yaml is a patch, both for kubectl
// patch --patch-file and as a patch of kustomize; one that ends in .txt has instructions. The same
// set always gives the same bytes.
func Files(s Set) ([]File, error) {
	out := []File{{readmeFile, readme(s)}}
	index, err := s.index()
	if err != nil {
		return nil, err
	}
	out = append(out, File{indexFile, index})
	for i := range s.Sequences {
		q := &s.Sequences[i]
		for j := range q.Steps {
			body, err := q.file(j)
			if err != nil {
				return nil, fmt.Errorf("%s, step %s: %w", q.Object, q.Steps[j].Name, err)
			}
			out = append(out, File{q.path(j), body})
		}
	}
	return out, nil
}

// path is where a step is written.
func (q *Sequence) path(i int) string {
	width := max(2, len(strconv.Itoa(len(q.Steps))))
	ending := ".txt"
	if q.Steps[i].Patch != nil {
		ending = ".yaml"
	}
	return path.Join(q.Directory, fmt.Sprintf("%0*d-%s%s", width, i+1, safeFileName(q.Steps[i].Name), ending))
}

// safeFileName keeps what is at home in file names everywhere.
func safeFileName(name string) string {
	name = strings.ReplaceAll(name, "%", "pct")
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' {
			return c
		}
		return '-'
	}, name)
}

// run are the commands of a step, as they are run from the folder of the README.
func (q *Sequence) run(i int) []string {
	if p := q.Steps[i].Patch; p != nil {
		return []string{p.Command(q.path(i))}
	}
	return q.Steps[i].Commands
}

// file is what one step's file holds: the whole step as comment or text, then the
// patch.
func (q *Sequence) file(i int) ([]byte, error) {
	s := &q.Steps[i]
	lines := []string{fmt.Sprintf("%s, step %d of %d: %s", q.Object, i+1, len(q.Steps), s.Title)}
	lines = append(lines, list("must hold before", s.Before)...)
	if commands := q.run(i); len(commands) > 0 {
		lines = append(lines, "", "run, in the folder above:")
		lines = append(lines, indented("  ", commands)...)
	}
	lines = append(lines, list("must hold before the next step", s.After)...)
	if len(s.Notes) > 0 {
		lines = append(lines, "")
		lines = append(lines, s.Notes...)
	}
	if s.Patch == nil {
		return []byte(strings.Join(oneLine(lines), "\n") + "\n"), nil
	}
	lines = append(lines, kustomized(s.Patch, path.Base(q.path(i)))...)
	body, err := s.Patch.document()
	if err != nil {
		return nil, err
	}
	return append(comment(lines), body...), nil
}

func list(title string, conditions []Condition) []string {
	if len(conditions) == 0 {
		return nil
	}
	out := []string{"", title + ":"}
	for _, c := range conditions {
		out = append(out, "- "+c.Text)
		if c.Check != "" {
			out = append(out, "  "+c.Check)
		}
	}
	return out
}

func indented(by string, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = by + l
	}
	return out
}

// oneLine keeps what came from elsewhere from beginning a line of its own.
func oneLine(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(l)
	}
	return out
}

func comment(lines []string) []byte {
	var b bytes.Buffer
	for _, l := range oneLine(lines) {
		b.WriteString(strings.TrimRight("# "+l, " ") + "\n")
	}
	return b.Bytes()
}

// kustomized reports how the file is used as a patch of kustomize, which needs
// the target of a JSON patch. Pods and subresources have no manifest.
func kustomized(p *Patch, file string) []string {
	if p.Target.Kind == "Pod" || p.Subresource != "" {
		return nil
	}
	if p.Type != patchJSON {
		return []string{"", "as a patch of kustomize: {path: " + file + "}"}
	}
	group, version, _ := strings.Cut(p.Target.APIVersion, "/")
	return []string{"", fmt.Sprintf("as a patch of kustomize: {path: %s, target: {group: %s, version: %s, kind: %s, name: %s}}",
		file, group, version, p.Target.Kind, p.Target.Name)}
}

// patchJSON is the type whose body is a list of operations.
const patchJSON = "json"

// document is the body as YAML. One that is part of an object names the object, as
// kustomize wants it: nothing is changed by that.
func (p *Patch) document() ([]byte, error) {
	body, ok := p.Body.(map[string]any)
	if !ok || p.Target.Kind == "Pod" {
		return yaml.Marshal(p.Body)
	}
	identity := map[string]any{"name": p.Target.Name}
	if p.Target.Namespace != "" {
		identity["namespace"] = p.Target.Namespace
	}
	whole := map[string]any{"apiVersion": p.Target.APIVersion, "kind": p.Target.Kind, "metadata": identity}
	for key, v := range body {
		if key != "metadata" {
			whole[key] = v
			continue
		}
		change, _ := v.(map[string]any)
		maps.Copy(identity, change)
	}
	return yaml.Marshal(whole)
}

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
// it is in.
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
