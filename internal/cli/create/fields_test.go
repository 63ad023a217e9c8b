package create

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/distribute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/fields"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// samples are a value of each shape.
var samples = map[fields.Shape]*tree.Node{
	fields.Text: tree.String("x"), fields.Number: tree.Int64(1), fields.Amount: tree.String("20%"), fields.Truth: tree.Boolean(true),
	fields.Texts: tree.Seq(tree.String("x")), fields.Names: tree.Seq(tree.Map("name", "x")), fields.Pairs: tree.Map("a", "b"),
	fields.Selector: tree.Map("matchLabels", tree.Map("a", "b")), fields.Containers: tree.Seq(tree.Map("name", "x", "image", "y")),
}

// TestFieldsExist: each flag stands for a field that the kind has, of a type that its
// shape fits.
func TestFieldsExist(t *testing.T) {
	for name, kind := range map[string]struct {
		rows  []fields.Field
		typed any
	}{
		"ContainerRecreateRequest": {recreateFields, &kruise.ContainerRecreateRequest{}},
		"BroadcastJob":             {broadcastFields, &kruise.BroadcastJob{}},
		"Job":                      {jobFields, &batchv1.Job{}},
		"ImagePullJob":             {pullFields, &kruise.ImagePullJob{}},
		"ImageListPullJob":         {pullFields, &kruise.ImageListPullJob{}},
		"SidecarSet":               {sidecarFields, &kruise.SidecarSet{}},
		"PodUnavailableBudget":     {budgetFields, &kruise.PodUnavailableBudget{}},
		"ResourceDistribution":     {distribute.Targets, &kruise.ResourceDistribution{}},
	} {
		t.Run(name, func(t *testing.T) {
			seen := map[string]bool{}
			for _, row := range append(kind.rows, fields.Metadata...) {
				object := tree.Map("spec", tree.Map("containers", tree.Seq(tree.Map("name", "x", "image", "y"))))
				if name != "SidecarSet" {
					object = tree.Map("spec", tree.Map())
				}
				if err := fields.Put(object, row.Path, tree.Clone(samples[row.Shape])); err != nil {
					t.Errorf("--%s: %v", row.Flag, err)
					continue
				}
				if unknown, err := tree.Decode(object, kind.typed); err != nil || len(unknown) > 0 {
					t.Errorf("--%s: %v %v", row.Flag, unknown, err)
				}
				if row.Help == "" || seen[row.Flag] {
					t.Errorf("--%s has no help, or stands here twice", row.Flag)
				}
				seen[row.Flag] = true
			}
		})
	}
}
