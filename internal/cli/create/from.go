package create

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	cli "k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// instantiate is what kubectl marks a job with that somebody started by hand.
const instantiate = "cronjob.kubernetes.io/instantiate"

// copies adds --from: the object is what a CronJob or AdvancedCronJob would create.
// template is the field of an AdvancedCronJob's template for this kind, other the flag
// that says the same by hand.
func (o *form) copies(c *cobra.Command, template, other string) {
	var from string
	c.Flags().StringVar(&from, "from", "", "the object whose template is run now, such as acj/NAME")
	o.begin = func(_ context.Context, object *tree.Node, words []string) error {
		switch {
		case from == "" && len(words) > 0:
			return o.commandless()
		case from == "":
			return nil
		case c.Flags().Changed(other):
			return command.Usagef("", "either --%s or --from must be specified", other)
		case len(words) > 0:
			return command.Usagef("", "cannot specify --from and command")
		}
		source, err := o.source(from)
		if err != nil {
			return err
		}
		o.loose = true
		return o.copy(object, tree.FromValue(source.Object), template)
	}
}

// source reads the object that --from names.
func (o *form) source(from string) (*unstructured.Unstructured, error) {
	namespace, err := o.factory.NamespaceOrDefault()
	if err != nil {
		return nil, err
	}
	infos, err := cli.NewBuilder(kubectl.Getter(o.factory)).Unstructured().
		NamespaceParam(namespace).DefaultNamespace().ResourceTypeOrNameArgs(false, from).Flatten().Latest().Do().Infos()
	switch {
	case err != nil:
		return nil, err
	case len(infos) != 1:
		return nil, command.Usagef("for instance acj/report", "--from must be an existing cronjob or advancedcronjob, not %d objects", len(infos))
	}
	return infos[0].Object.(*unstructured.Unstructured), nil
}

// copy makes the object from the source's template: its spec, labels and annotations,
// and the source as an owner that does not control it.
func (o *form) copy(object, source *tree.Node, template string) error {
	path, err := o.template(source, template)
	if err != nil {
		return err
	}
	body := tree.Get(source, path...)
	annotations := tree.Map(instantiate, "manual")
	tree.Each(tree.Get(body, "metadata", "annotations"), func(k, v *tree.Node) { tree.Set(annotations, k.Value, v) })
	tree.SetAt(object, annotations, "metadata", "annotations")
	if labels := tree.Get(body, "metadata", "labels"); labels != nil {
		tree.SetAt(object, tree.Clone(labels), "metadata", "labels")
	}
	owner := tree.Map("apiVersion", tree.StrAt(source, "apiVersion"), "kind", tree.StrAt(source, "kind"),
		"name", tree.String(tree.StrAt(source, "metadata", "name")), "uid", tree.StrAt(source, "metadata", "uid"))
	tree.SetAt(object, tree.Seq(owner), "metadata", "ownerReferences")
	if spec := tree.Get(body, "spec"); spec != nil {
		tree.Set(object, "spec", tree.Clone(spec))
	}
	return nil
}

// template is where the source has the template of this kind.
func (o *form) template(source *tree.Node, template string) ([]string, error) {
	group := resource.GroupOf(tree.StrAt(source, "apiVersion"))
	switch kind := tree.StrAt(source, "kind"); {
	case group == "batch" && kind == "CronJob" && o.kind == "Job":
		return []string{"spec", "jobTemplate"}, nil
	case group != kruise.Group || kind != kruise.KindAdvancedCronJob:
		return nil, command.Usagef("for instance acj/report", "from must be an existing %s, but got %s", o.sources(), strings.ToLower(kind))
	}
	if tree.Get(source, "spec", "template", template) == nil {
		return nil, &resource.Error{
			Err:  fmt.Errorf("from must be a %s template, but got %s", word(template), has(source)),
			Hint: "AdvancedCronJob " + tree.StrAt(source, "metadata", "name") + " creates other objects",
		}
	}
	return []string{"spec", "template", template}, nil
}

func (o *form) sources() string {
	if o.kind == "Job" {
		return "cronjob or advancedcronjob"
	}
	return "advancedcronjob"
}

// word is what a template makes, as the older plugin says it.
func word(template string) string { return strings.TrimSuffix(strings.ToLower(template), "template") }

// has is the template that an AdvancedCronJob does have.
func has(source *tree.Node) string {
	kind := "none"
	tree.Each(tree.Get(source, "spec", "template"), func(k, _ *tree.Node) { kind = word(k.Value) })
	return kind
}
