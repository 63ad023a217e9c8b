package argocd

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

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

// Announce lists the parameters with what the application's RenderConfig says now.
func Announce(s *Settings) []Announcement {
	target, kubernetes := string(s.Target), ""
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
		many("with", "With", "files of the repository with objects that exist in the cluster, as kubectl kruise inventory writes them", with),
		word("kubernetesVersion", "Kubernetes version", "of the API server to render for; that of the destination without it", kubernetes),
		word("kruise", "Kruise version", "release of Kruise whose behaviour the output has, such as 1.8; that of the files in with, else the newest", s.Kruise.String()),
	}, s.announceOwn())
}

func (s *Settings) announceOwn() []Announcement {
	return []Announcement{
		word("source", "Source", "auto, directory, kustomize or helm", string(s.Source)),
		truthOf("recurse", "Recurse", "look into the folders of a directory, too", s.Recurse),
		many("helmValues", "Helm values", "files of values for the chart, in order", s.HelmValues),
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
