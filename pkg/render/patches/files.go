package patches

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
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
	s.Sequences = slices.Clone(s.Sequences)
	var steps []File
	for i := range s.Sequences {
		q := &s.Sequences[i]
		q.placeSteps()
		for j := range q.Steps {
			body, err := q.file(j)
			if err != nil {
				return nil, fmt.Errorf("%s, step %s: %w", Named(q.Object), q.Steps[j].Name, err)
			}
			steps = append(steps, File{q.Steps[j].File, body})
		}
	}
	index, err := s.index()
	return append([]File{{readmeFile, readme(s)}, {indexFile, index}}, steps...), err
}

// placeSteps gives the steps their files and the commands that send their patches, which are run
// from the folder of the README.
func (q *Sequence) placeSteps() {
	q.Steps = append([]Step{}, q.Steps...)
	width := max(2, len(strconv.Itoa(len(q.Steps))))
	for i := range q.Steps {
		s, ending := &q.Steps[i], ".txt"
		if s.Patch != nil {
			ending = ".yaml"
		}
		s.File = path.Join(q.Directory, fmt.Sprintf("%0*d-%s%s", width, i+1, safeFileName(s.Name), ending))
		if s.Patch != nil {
			s.Commands = []string{s.Command(s.File)}
		}
	}
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

// file is what one step's file holds: the whole step as comment or text, then the
// patch.
func (q *Sequence) file(i int) ([]byte, error) {
	s := &q.Steps[i]
	lines := []string{fmt.Sprintf("%s, step %d of %d: %s", Named(q.Object), i+1, len(q.Steps), s.Title)}
	lines = append(lines, list("must hold before", s.Before)...)
	if len(s.Commands) > 0 {
		lines = append(lines, "", "run, in the folder above:")
		for _, command := range s.Commands {
			lines = append(lines, "  "+command)
		}
	}
	lines = append(lines, list("must hold before the next step", s.After)...)
	if len(s.Notes) > 0 {
		lines = append(lines, "")
		lines = append(lines, s.Notes...)
	}
	if s.Patch == nil {
		return []byte(strings.Join(oneLine(lines), "\n") + "\n"), nil
	}
	lines = append(lines, kustomized(s.Patch, path.Base(s.File))...)
	body, err := s.document()
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
	if p.Type != plan.PatchJSON {
		return []string{"", "as a patch of kustomize: {path: " + file + "}"}
	}
	group, version, _ := strings.Cut(p.Target.APIVersion, "/")
	return []string{"", fmt.Sprintf("as a patch of kustomize: {path: %s, target: {group: %s, version: %s, kind: %s, name: %s}}",
		file, group, version, p.Target.Kind, p.Target.Name)}
}

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

// index is the set for programs: paths and commands are those of the folder that
// it is in.
func (s Set) index() ([]byte, error) {
	if s.Sequences == nil {
		s.Sequences = []Sequence{}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Set
	}{plan.APIVersion, "PatchIndex", s})
	return out.Bytes(), err
}
