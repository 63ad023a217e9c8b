package argocd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
)

// Announcement is a parameter as Argo CD's form shows it (docs/facts/argocd.md#the-plugin-file).
// Its default is for people to read: Argo CD never sends it.
type Announcement struct {
	Name           string   `json:"name"`
	Title          string   `json:"title"`
	Tooltip        string   `json:"tooltip"`
	ItemType       string   `json:"itemType,omitempty"`
	CollectionType string   `json:"collectionType,omitempty"`
	String         string   `json:"string,omitempty"`
	Array          []string `json:"array,omitempty"`
}

// Announce lists the parameters with their current values in the application's RenderConfig.
func Announce(s *Settings) []Announcement {
	target, kubernetes, schema := string(s.Target), "", ""
	if s.KruiseSchema != nil {
		schema = strconv.FormatBool(*s.KruiseSchema)
	}
	if target == "" {
		target = string(render.Native)
	}
	if s.Kubernetes > 0 {
		kubernetes = "1." + strconv.Itoa(s.Kubernetes)
	}
	with := []string{}
	for _, w := range s.With {
		if w.File != "" {
			with = append(with, w.File)
		}
	}
	return slices.Concat([]Announcement{
		word("target", "Target", "native, kruise (keep Kruise objects), or auto: by what the cluster serves", target),
		word("driver", "Driver", "who replaces pods: native, or client (kubectl kruise rollout)", or(string(s.Driver), "native")),
		truthOf("strict", "Strict", "fail when something of a Kruise object is lost", s.Strict),
		many("expand", "Expand", "kinds to expand although the target keeps Kruise objects: "+strings.Join(render.Expandable, ", "), s.Expand),
		many("with", "With", "files of the repository with objects that exist in the cluster, as 'kubectl kruise inventory' writes them", with),
		word("kubernetesVersion", "Kubernetes version", "of the API server to render for; that of the destination without it", kubernetes),
		word("kruiseSchema", "Kruise schema", "true or false: whether Kruise's schema takes part in the build of a kustomization; where it would change it, empty is an error", schema),
		word("kruise", "Kruise version", "release of Kruise whose behaviour the output has, such as 1.8; that of the files in with, else the newest", s.Kruise.String()),
	}, s.announceOwn())
}

func (s *Settings) announceOwn() []Announcement {
	return []Announcement{
		word("source", "Source", "auto, directory, kustomize or helm", string(s.Source)),
		truthOf("recurse", "Recurse", "look into the folders of a directory, too", s.Recurse),
		many("helmValues", "Helm values", "files of values for the chart, in order", s.HelmValues),
		truthOf("acceptAnnotations", "Accept annotations", "let the annotation kubectl-kruise.dev/accept of objects accept losses although strict is set here", s.AcceptAnnotations),
		truthOf("syncWaves", "Sync waves", "namespaces, policies and configuration before workloads", s.SyncWaves),
		truthOf("allowEmpty", "Allow empty", "let an empty result be a success; with pruning it deletes everything", s.AllowEmpty),
	}
}

// WriteAnnouncements writes the list as Argo CD reads it.
func WriteAnnouncements(w io.Writer, list []Announcement) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(list)
}

func word(name, title, tooltip, value string) Announcement {
	return Announcement{Name: name, Title: title, Tooltip: tooltip, CollectionType: "string", String: value}
}

func truthOf(name, title, tooltip string, value bool) Announcement {
	a := word(name, title, tooltip, strconv.FormatBool(value))
	a.ItemType = "boolean"
	return a
}

func many(name, title, tooltip string, value []string) Announcement {
	return Announcement{Name: name, Title: title, Tooltip: tooltip, CollectionType: "array", Array: value}
}

func or(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// own are the options that only an application has, sorted.
var own = []string{"acceptAnnotations", "helmValues", "recurse", "source", "syncWaves"}

// set sets one of them, and returns a hint with its error.
func (s *Settings) set(name string, v *tree.Node) (hint string, err error) {
	switch name {
	case "source":
		s.Source = Source(v.Value)
		if !slices.Contains(sources, s.Source) {
			return "one of: auto, directory, kustomize, helm", fmt.Errorf("unknown value %q", v.Value)
		}
		return "", nil
	case "acceptAnnotations":
		return "", boolean(&s.AcceptAnnotations, v)
	case "recurse":
		return "", boolean(&s.Recurse, v)
	case "syncWaves":
		return "", boolean(&s.SyncWaves, v)
	default:
		return s.helmValues(v)
	}
}

var sources = []Source{Auto, Directory, Kustomize, Helm}

// names are those of all options, sorted.
func names() []string {
	return slices.Sorted(slices.Values(append(render.OptionNames(), own...)))
}

// parted takes this package's options out of a RenderConfig; what is left is a
// function config as anywhere else.
func parted(n *tree.Node) (ours map[string]*tree.Node, theirs *tree.Node) {
	ours = map[string]*tree.Node{}
	if tree.IsNull(n) || !tree.IsMap(tree.Get(n, "spec")) {
		return ours, n
	}
	theirs = tree.Shallow(n)
	spec := tree.Shallow(tree.Get(n, "spec"))
	for _, name := range own {
		if v := tree.Get(spec, name); v != nil {
			ours[name] = v
			tree.Delete(spec, name)
		}
	}
	tree.Set(theirs, "spec", spec)
	return ours, theirs
}

// take sets options of this package; at makes a name what messages call it, which is a
// field below root where there is one.
func (s *Settings) take(root *tree.Node, at string, values map[string]*tree.Node) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if tree.IsNull(values[name]) {
			continue
		}
		if hint, err := s.set(name, values[name]); err != nil {
			errs = append(errs, tree.Errorf(root, fmt.Sprintf(at, name), hint, "%v", err))
		}
	}
	return errors.Join(errs...)
}

// helmValues takes files within the repository alone.
func (s *Settings) helmValues(v *tree.Node) (string, error) {
	if !tree.IsSeq(v) {
		return "", errors.New("must be a list of files")
	}
	for _, item := range tree.Items(v) {
		if path.IsAbs(item.Value) || strings.Contains(item.Value, "://") {
			return "name it from the application's folder, as values.yaml or ../values.yaml", fmt.Errorf("%q is not a file of the repository", item.Value)
		}
		s.HelmValues = append(s.HelmValues, item.Value)
	}
	return "", nil
}

func boolean(into *bool, v *tree.Node) error {
	if !tree.IsBool(v) {
		return errors.New("must be true or false")
	}
	*into = tree.Bool(v)
	return nil
}

// fromText reads the text of an own option. What should be true or false and is not stays text,
// which is refused.
func fromText(name, s string) *tree.Node {
	switch {
	case name == "helmValues":
		return list(strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' }))
	case name != "source" && (s == "true" || s == "false"):
		return tree.Boolean(s == "true")
	}
	return tree.String(s)
}
