package inject

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// readRecords reads what an earlier injection left in the pod.
func (in *injection) readRecords() error {
	for _, key := range []string{kruise.SidecarSetHashAnnotation, kruise.SidecarSetHashWithoutImageAnnotation} {
		if _, err := readEntries(tree.StrAt(in.annotations, key)); err != nil {
			return fmt.Errorf("annotation %s: %w", key, err)
		}
	}
	in.carried, in.ours = map[string]bool{}, map[string]bool{}
	for _, name := range splitList(tree.StrAt(in.annotations, kruise.SidecarSetInjectedListAnnotation)) {
		in.carried[name] = true
	}
	for _, set := range in.sets {
		if !in.carried[set.Set] {
			continue
		}
		for _, s := range set.all() {
			for _, v := range s.variants {
				in.ours[v.name] = true
			}
		}
	}
	return nil
}

func splitList(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

func (in *injection) recordHot() error {
	var hot []*sidecar
	for _, set := range in.sets {
		for _, s := range set.all() {
			if len(s.variants) == 2 {
				hot = append(hot, s)
			}
		}
	}
	if len(hot) == 0 {
		return nil
	}
	working := map[string]string{}
	if text := tree.StrAt(in.annotations, kruise.SidecarSetWorkingHotUpgradeAnnotation); text != "" {
		if err := json.Unmarshal([]byte(text), &working); err != nil || working == nil {
			return fmt.Errorf("annotation %s is not a JSON object of strings", kruise.SidecarSetWorkingHotUpgradeAnnotation)
		}
	}
	for _, s := range hot {
		// Write the five annotations of a hot-upgrade pair; working gains the sidecar's entry.
		first, second := s.variants[0].name, s.variants[1].name
		in.annotate(kruise.SidecarSetVersionAnnotationPrefix+first, "1")
		in.annotate(kruise.SidecarSetVersionAltAnnotationPrefix+first, "0")
		in.annotate(kruise.SidecarSetVersionAnnotationPrefix+second, "0")
		in.annotate(kruise.SidecarSetVersionAltAnnotationPrefix+second, "1")
		working[s.name] = first
	}
	text, err := json.Marshal(working)
	if err != nil {
		return err
	}
	in.annotate(kruise.SidecarSetWorkingHotUpgradeAnnotation, string(text))
	return nil
}

// hotPair makes the two containers of a HotUpgrade sidecar: NAME-1 runs the
// image, NAME-2 waits with the empty one (docs/kruise/sidecarset.md#hot-upgrade-injection).
func hotPair(s *sidecar, base *tree.Node, empty string) []variant {
	pair := make([]variant, 2)
	for i, suffix := range []string{"-1", "-2"} {
		name := s.name + suffix
		v := variant{name: name, versions: []*tree.Node{
			versionEnv(kruise.SidecarSetVersionEnv, kruise.SidecarSetVersionAnnotationPrefix+name),
			versionEnv(kruise.SidecarSetVersionAltEnv, kruise.SidecarSetVersionAltAnnotationPrefix+name),
		}}
		v.node = tree.Shallow(base)
		tree.Set(v.node, "name", tree.String(name))
		tree.Set(v.node, "env", tree.Seq(appendCopy(s.env, v.versions)...))
		pair[i] = v
	}
	image := tree.StrAt(base, "image")
	waiting := pair[1].node
	tree.Set(waiting, "image", tree.String(empty))
	if policy := pullPolicy(image); !tree.Has(base, "imagePullPolicy") && policy != pullPolicy(empty) {
		// The webhook copies a container whose policy the real image has set.
		tree.InsertAfter(waiting, "image", "imagePullPolicy", tree.String(policy))
	}
	return pair
}

func versionEnv(name, annotation string) *tree.Node {
	path := "metadata.annotations['" + annotation + "']"
	return tree.Map("name", name, "valueFrom", tree.Map("fieldRef", tree.Map("fieldPath", path)))
}

// pullPolicy is the imagePullPolicy that Kubernetes gives a container without
// one: Always for the tag latest or neither tag nor digest, else IfNotPresent.
func pullPolicy(image string) string {
	rest, _, digest := strings.Cut(image, "@")
	last := rest[strings.LastIndexByte(rest, '/')+1:]
	_, tag, tagged := strings.Cut(last, ":")
	if tag == "latest" || !tagged && !digest {
		return "Always"
	}
	return "IfNotPresent"
}

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

// Entries returns the entries of SidecarSets in a pod's annotations, by their names.
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
