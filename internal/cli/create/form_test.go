package create

import (
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// samples are a value of each shape.
var samples = map[Shape]*tree.Node{
	Text: tree.String("x"), Number: tree.Int64(1), Amount: tree.String("20%"), Truth: tree.Boolean(true),
	Texts: tree.Seq(tree.String("x")), Names: tree.Seq(tree.Map("name", "x")), Pairs: tree.Map("a", "b"), Terms: tree.Seq(tree.Map("key", "a", "value", "b")),
	Selector: tree.Map("matchLabels", tree.Map("a", "b")), Containers: tree.Seq(tree.Map("name", "x", "image", "y")),
}

// kindOf is a kind with the flags of its command.
type kindOf struct {
	typed any
	rows  []Field
	// base is a command line that makes a whole object; a flag of it that is tried by
	// itself is left out.
	base []string
	// texts are what flags take where any text will not do.
	texts map[string]string
	// with are flags that another one needs beside it.
	with map[string][]string
	// kept are fields that Kruise fills in, and refuses from users.
	kept []string
	// more are flags beside the rows: name, text, and the field that they fill.
	more [][3]string
}

// line is the base with another flag.
func (k kindOf) line(flag string) []string {
	name, _, _ := strings.Cut(flag, "=")
	out := slices.DeleteFunc(slices.Clone(k.base), func(arg string) bool {
		given, _, _ := strings.Cut(arg, "=")
		return given == name || slices.Contains(k.instead(name), given)
	})
	return append(append(out, k.with[name]...), flag)
}

// instead are the flags that cannot stand beside one.
func (k kindOf) instead(name string) []string {
	switch name {
	case "--min-available":
		return []string{"--max-unavailable"}
	case "--target":
		return []string{"--selector"}
	case "--all-namespaces":
		return []string{"--include"}
	case "--secret":
		return []string{"--configmap"}
	}
	return nil
}

func kinds() map[string]kindOf {
	image := Field{Flag: "image", Path: "spec.image", Shape: Text, Help: "-"}
	images := Field{Flag: "images", Path: "spec.images", Shape: Texts, Help: "-"}
	late := map[string]string{"active-deadline-seconds": "700"}
	program := [][3]string{{"image", "a:1", "spec.template"}}
	return map[string]kindOf{
		"ContainerRecreateRequest": {
			typed: &kruise.ContainerRecreateRequest{}, rows: recreateFields, base: []string{"crr", "a", "--pod=web", "--container=app"},
			kept: []string{"spec.containers[].preStop", "spec.containers[].ports", "spec.containers[].statusContext"},
		},
		"BroadcastJob": {typed: &kruise.BroadcastJob{}, rows: broadcastFields, base: []string{"bcj", "a", "--image=a:1"}, more: program},
		"Job":          {typed: &batchv1.Job{}, rows: jobFields, base: []string{"job", "a", "--image=a:1"}, more: program},
		"ImagePullJob": {
			typed: &kruise.ImagePullJob{}, rows: append([]Field{image}, pullFields...), base: []string{"ipj", "a", "--image=a:1"}, texts: late,
		},
		"ImageListPullJob": {
			typed: &kruise.ImageListPullJob{}, rows: append([]Field{images}, pullFields...), base: []string{"ilpj", "a", "--images=a:1"}, texts: late,
		},
		"SidecarSet": {
			typed: &kruise.SidecarSet{}, rows: sidecarFields, base: []string{"sidecarset", "a", "--selector=app=web", "--container=c=a:1"},
			texts: map[string]string{"container": "c=a:1", "patch-policy": "Overwrite"}, with: map[string][]string{"--injection-policy": {"--injection-version=1"}, "--patch-policy": {"--patch-annotations=a=b"}},
		},
		"PodUnavailableBudget": {
			typed: &kruise.PodUnavailableBudget{}, rows: budgetFields, base: []string{"pub", "a", "--selector=app=web", "--max-unavailable=1"},
			more: [][3]string{{"target", "cloneset/web", "spec.targetRef"}},
		},
		"ResourceDistribution": {
			typed: &kruise.ResourceDistribution{}, rows: targetFields,
			base: []string{"rd", "a", "--configmap=c", "--from-literal=a=b", "--include=shop"},
			more: [][3]string{{"secret", "c", "spec.resource"}, {"from-literal", "a=b", "spec.resource.data"}},
		},
	}
}

// TestFlags_StandForExistingFields: each flag sets a field that the kind has, of a type that its
// shape fits.
func TestFlags_StandForExistingFields(t *testing.T) {
	for name, kind := range kinds() {
		t.Run(name, func(t *testing.T) {
			seen := map[string]bool{}
			for _, row := range append(kind.rows, metadataFields...) {
				object := tree.Map("spec", tree.Map("containers", tree.Seq(tree.Map("name", "x", "image", "y"))))
				if name != "SidecarSet" {
					object = tree.Map("spec", tree.Map())
				}
				if err := PutField(object, row.Path, tree.Clone(samples[row.Shape])); err != nil {
					t.Errorf("--%s: %v", row.Flag, err)
					continue
				}
				if unknown, err := tree.Decode(object, kind.typed); err != nil || len(unknown) > 0 {
					t.Errorf("--%s: %v %v", row.Flag, unknown, err)
				}
				if row.Help == "" || seen[row.Flag] {
					t.Errorf("--%s has no help, or is listed twice", row.Flag)
				}
				seen[row.Flag] = true
			}
		})
	}
}
