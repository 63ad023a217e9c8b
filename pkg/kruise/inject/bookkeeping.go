package inject

import (
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Entry is what Kruise notes about one SidecarSet in a pod's hash annotations
// (docs/kruise/sidecarset.md#annotations). The order of the fields is that of the JSON.
type Entry struct {
	UpdateTimestamp    string   `json:"updateTimestamp"`
	Hash               string   `json:"hash"`
	SidecarSetName     string   `json:"sidecarSetName"`
	SidecarList        []string `json:"sidecarList"`
	ControllerRevision string   `json:"controllerRevision,omitempty"`
}

// Note is a SidecarSet that was injected, with what the caller knows of it.
type Note struct {
	Content *Content
	// Hash and HashWithoutImage are the set's own annotations, Revision its
	// stored revision ("" when it has none).
	Hash, HashWithoutImage, Revision string
}

// Entries returns what a pod's annotations say of the SidecarSets in it, by their names.
func Entries(annotations map[string]string) (map[string]Entry, error) {
	return readEntries(annotations[kruise.SidecarSetHashAnnotation])
}

// Bookkeeping returns the two hash annotations that the webhook writes at now,
// merged with those in annotations. The renderer does not write them; a model
// of the webhook does. Unparsable annotations are an error.
func Bookkeeping(annotations map[string]string, notes []Note, now time.Time) (map[string]string, error) {
	full, err := readEntries(annotations[kruise.SidecarSetHashAnnotation])
	if err != nil {
		return nil, err
	}
	without, err := readEntries(annotations[kruise.SidecarSetHashWithoutImageAnnotation])
	if err != nil {
		return nil, err
	}
	for _, n := range notes {
		e := Entry{
			UpdateTimestamp: now.UTC().Format(time.RFC3339), Hash: n.HashWithoutImage,
			SidecarSetName: n.Content.Set, SidecarList: n.Content.Sidecars(),
		}
		without[n.Content.Set] = e
		e.Hash, e.ControllerRevision = n.Hash, n.Revision
		full[n.Content.Set] = e
	}
	out := map[string]string{}
	for key, entries := range map[string]map[string]Entry{kruise.SidecarSetHashAnnotation: full, kruise.SidecarSetHashWithoutImageAnnotation: without} {
		b, err := json.Marshal(entries)
		if err != nil {
			return nil, err
		}
		out[key] = string(b)
	}
	return out, nil
}

// readEntries reads a hash annotation, also in its older form of set name to
// hash.
func readEntries(text string) (map[string]Entry, error) {
	entries := map[string]Entry{}
	if text == "" {
		return entries, nil
	}
	var older map[string]string
	if json.Unmarshal([]byte(text), &older) == nil {
		for set, hash := range older {
			entries[set] = Entry{Hash: hash, SidecarSetName: set}
		}
		return entries, nil
	}
	var read map[string]Entry
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		return nil, errors.New("the value is not what Kruise writes there: " + err.Error())
	}
	maps.Copy(entries, read)
	return entries, nil
}
