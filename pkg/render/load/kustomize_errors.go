package load

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/rooted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// This file puts what the door and the isolated process refused into words. It decides
// nothing: all is refused already.

// refusedByRoot reports what the root has refused, and where the name is.
func (j job) refusedByRoot(d *disk, err error) error {
	path, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return &resource.Error{File: j.file(), Err: err}
	}
	at, name := j.place(d, func(file, _, value string) bool { return filepath.Join(filepath.Dir(file), value) == path.Path })
	if name == "" {
		name = j.displayPath(path.Path)
	}
	e := &at
	e.Err = fmt.Errorf("%s: %w", name, path.Err)
	switch {
	case errors.Is(err, rooted.ErrOutside):
		e.Err = fmt.Errorf("%q leads out of %s", name, j.Root)
		e.Hint = "--root FOLDER names the folder that a kustomization may read"
		if j.Chosen {
			e.Hint = "nothing outside of that folder is read"
		}
	case errors.Is(err, rooted.ErrTooLarge):
		e.Err = fmt.Errorf("%s: is larger than %s", name, size(DefaultMaxFileBytes))
	case errors.Is(err, rooted.ErrTooOften):
		e.Hint = "a base that is named twice at each of n levels is built 2ⁿ times"
	}
	return e
}

// programMissing is kustomize's message when it would run git.
const programMissing = "no 'git' program on path"

// remotePlace returns the remote place that kustomize requested, nil for none.
func (j job) remotePlace(d *disk, err error, asked []string) error {
	name, said := "", err.Error()
	if len(asked) > 0 {
		name = asked[0]
	}
	at, value := j.place(d, func(_, field, value string) bool {
		if name != "" {
			return value == name
		}
		last := field[strings.LastIndexByte(field, '.')+1:]
		toRead := referring[last] || taking[last] || selecting[last]
		return toRead && remotePattern.MatchString(value) && (strings.Contains(said, value) || strings.Contains(said, filepath.Clean(value)))
	})
	if name == "" && value == "" && !strings.Contains(said, programMissing) {
		return nil
	}
	if value == "" {
		value = name
	}
	if value == "" {
		value = "a Git repository"
	}
	return remoteFault(value, at)
}

// remotePattern matches what kustomize takes for a Git repository.
var remotePattern = regexp.MustCompile(`(?i)^(git::|[a-z][a-z0-9+.-]*://|[a-z0-9_-]+@[^/]*[:/]|(github|gitlab|bitbucket)\.(com|org)[:/])`)

// hostPattern matches other names of remote places: a host with a path to a repository, or a query.
var hostPattern = regexp.MustCompile(`^[a-z0-9.-]+\.[a-z]{2,}[/:].*//|[?&](ref|version)=`)

// Remote reports whether kustomize takes the name of something that is not there for a remote place.
func Remote(name string) bool {
	return remotePattern.MatchString(name) || hostPattern.MatchString(name)
}

// userInfo is what a URL has for a server to know who asks.
var userInfo = regexp.MustCompile(`//[^/\s@]*:[^/\s@]*@`)

// remoteFault is the fault of a name of something that lies elsewhere.
func remoteFault(name string, at resource.Error) error {
	name = userInfo.ReplaceAllString(name, "//"+redact.Masked+"@")
	at.Err = fmt.Errorf("%q is a remote place", name)
	at.Hint = "fetch it, look at it, and name the local copy: rendering opens no connection"
	return &at
}

// place finds the first value that matches in the files that were read, and its place; without one
// the folder of the kustomization.
func (j job) place(d *disk, matches func(file, field, value string) bool) (at resource.Error, value string) {
	for _, t := range d.texts {
		for _, root := range documentsIn(t.body) {
			s := search{left: maxSearched}
			if n, field := s.find(root, "", func(field, value string) bool { return matches(t.name, field, value) }); n != nil {
				return resource.Error{File: j.displayPath(t.name), Line: n.Line, Field: field}, s.value
			}
		}
	}
	return resource.Error{File: j.file()}, ""
}

// displayPath names a file after the folder as it was named.
func (j job) displayPath(path string) string {
	rel, err := filepath.Rel(j.Dir, path)
	if err != nil {
		return path
	}
	return filepath.Join(j.Name, rel)
}

// search looks through the values of one document.
type search struct {
	value string
	left  int
}

// contents are fields that hold what is to come into objects, and name nothing to read.
var contents = map[string]bool{"data": true, "stringData": true, "binaryData": true, "literals": true}

// maxSearched bounds the values that are looked at, since aliases repeat them.
const maxSearched = 100_000

func (s *search) find(n *tree.Node, field string, matches func(field, value string) bool) (*tree.Node, string) {
	if s.left--; s.left < 0 {
		return nil, ""
	}
	switch n.Kind {
	case yaml.ScalarNode:
		for _, value := range namesIn(n) {
			if matches(field, value) {
				s.value = value
				return n, field
			}
		}
	case yaml.AliasNode:
		if found, _ := s.find(n.Alias, field, matches); found != nil {
			return n, field
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if contents[n.Content[i].Value] {
				continue
			}
			if found, at := s.find(n.Content[i+1], strings.TrimPrefix(field+"."+n.Content[i].Value, "."), matches); found != nil {
				return found, at
			}
		}
	default:
		for _, child := range n.Content {
			if found, at := s.find(child, field, matches); found != nil {
				return found, at
			}
		}
	}
	return nil, ""
}

// namesIn returns what a scalar may name: itself, the text after KEY=, and the names in a document
// that it has.
func namesIn(n *tree.Node) []string {
	text := n.Value
	if n.ShortTag() == "!!binary" {
		if b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), "")); err == nil {
			text = string(b)
		}
	}
	out := []string{text, strings.TrimSpace(text)}
	if _, path, ok := strings.Cut(text, "="); ok {
		out = append(out, path)
	}
	if strings.Contains(text, "\n") {
		for word := range strings.FieldsSeq(text) {
			out = append(out, strings.Trim(word, `"',[]{}`))
		}
	}
	return out
}

// kustomizeError gives kustomize's own errors, which may span lines and quote secrets, one line,
// a place and a hint. Where something that was read may be secret, the error is made of
// kustomize's phrases and of names only.
func (j job) kustomizeError(d *disk, err error) *resource.Error {
	said := withoutQuotations(err.Error())
	e := &resource.Error{File: j.file(), Err: errors.New(redact.Inside(said))}
	if d.holdsSecrets() {
		n := j.newQuotable(d, said)
		e.Err = errors.New(redact.Message(said, n.known, shortened...))
		if n.at.Line > 0 {
			e.File, e.Line, e.Field = n.at.File, n.at.Line, n.at.Field
		}
	}
	switch {
	case types.IsErrOnlyBuiltinPluginsAllowed(err):
		e.Hint = "rendering runs no functions: pipe `kustomize build --enable-alpha-plugins --enable-exec` into -f -"
	case strings.Contains(err.Error(), "--enable-helm"):
		e.Hint = "rendering runs no helm: pipe `kustomize build --enable-helm` into -f -"
	case strings.Contains(err.Error(), "kustomization.yaml is empty"):
		e.Hint = "kustomize takes no file without fields: write resources: [], whose empty result --allow-empty permits"
	case strings.Contains(err.Error(), "security; file"):
		e.Hint = "files must lie in or below the directory of the kustomization that names them"
	}
	return e
}

// quotation is a part of an error that repeats what a file holds.
type quotation struct {
	is *regexp.Regexp
	by string
}

// quotations are where kustomize's errors repeat patches, literals, lines of env files and whole
// objects: each may hold the value of a Secret. The first ones come before those that can occur in
// what they cut. They are compiled for the first error.
var quotations = sync.OnceValue(func() []quotation {
	return []quotation{
		{regexp.MustCompile("(?s)with config: `.*`: "), "with its config: "},
		{regexp.MustCompile(`\[patch: "(?:[^"\\]|\\.)*"\]`), "an inline patch"},
		{regexp.MustCompile(`(?s)(with its config: )decoding .*: `), "${1}decoding the patch: "},
		{regexp.MustCompile(`(?s)(must specify one of patch and path|patch and path can't be set at the same time|patch appears to be empty)[ ;\n].*`), "$1"},
		{regexp.MustCompile(`(?s)(must specify a target for (?:JSON )?patch) .*`), "$1"},
		{regexp.MustCompile(`(?s)literal sources \[.*\]: `), "literal sources: "},
		{regexp.MustCompile(`(?s)invalid literal source .*, expected`), "an invalid literal source, expected"},
		{regexp.MustCompile(`(?s)line \[[0-9 ]*\] has invalid utf8 bytes : .*`), "a line is not UTF-8 text"},
		{regexp.MustCompile(`(?s)(missing metadata\.name|empty item at \[.*?\]) in object .*?(': must build|$)`), "$1$2"},
		{regexp.MustCompile(`(?s)(shouldn't modify the resource map|out of bounds for value|expected 1 resource, found [0-9]+)[ :].*`), "$1"},
		{regexp.MustCompile(`(?s)^map\[string\]interface \{\}.*: `), ""},
		{regexp.MustCompile(`(?s)(wrong Node Kind.*?): value: \{.*\}`), "$1"},
		{regexp.MustCompile(`unknown anchor '.*?' referenced`), "unknown anchor"},
		{regexp.MustCompile(`(?s)accumulation err='(.*)': must build at directory: '[^']*': file is not directory`), "$1"},
	}
})

// shortened are what quotations leave of kustomize's own phrases, and put in their place.
var shortened = []string{
	"with its config:", "an inline patch", "decoding the patch:", "literal sources:", "an invalid literal source, expected key=value",
	"a line is not UTF-8 text", "missing metadata.name", "empty item at", "wrong Node Kind for", "unknown anchor",
}

// withoutQuotations returns a message of kustomize, on one line, without its quotations.
func withoutQuotations(msg string) string {
	for _, q := range quotations() {
		msg = q.is.ReplaceAllString(msg, q.by)
	}
	return strings.Join(strings.Fields(msg), " ")
}
