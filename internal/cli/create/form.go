package create

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	cli "k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/submit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// form is a command that makes one object of a kind.
type form struct {
	factory *factory.Factory
	sending *submit.CreateOptions
	set     *FlagSet

	apiVersion, kind string
	// typed is an empty object, to read the fields into.
	typed any
	// begin makes what flags then fill; nil makes an object without a spec.
	begin func(ctx context.Context, o *tree.Node, words []string) error
	// target is the workload that --target of a budget names.
	target string
	// loose objects hold fields of a template that a newer server may know.
	loose bool
}

// newForm binds a kind of Kruise to a command, which has its words already.
func newForm(f *factory.Factory, c *cobra.Command, kind string, typed any, rows []Field) *form {
	group := kruise.Group
	if kind == kruise.KindPodUnavailableBudget {
		group = kruise.PolicyGroup
	}
	return newTypedForm(f, c, group+"/"+kruise.V1beta1, kind, typed, rows)
}

func newTypedForm(f *factory.Factory, c *cobra.Command, apiVersion, kind string, typed any, rows []Field) *form {
	o := &form{factory: f, sending: submit.NewCreateOptions(f), apiVersion: apiVersion, kind: kind, typed: typed}
	o.sending.AddFlags(c)
	o.set = BindFields(c, append(slices.Clip(rows), metadataFields...))
	addPathExamples(c, kind)
	c.DisableFlagsInUseLine = true
	c.RunE = func(c *cobra.Command, args []string) error {
		name, words, err := splitCommand(c, args)
		if err == nil {
			err = o.sending.Complete()
		}
		if err != nil {
			return err
		}
		return o.run(c.Context(), name, words)
	}
	return o
}

// splitCommand takes the arguments apart: one name, and behind -- the words of a command.
func splitCommand(c *cobra.Command, args []string) (name string, words []string, err error) {
	n := c.ArgsLenAtDash()
	if n < 0 {
		n = len(args)
	}
	if n != 1 || args[0] == "" {
		return "", nil, command.Usagef("see '"+c.CommandPath()+" --help'", "exactly one NAME is required, got %d", n)
	}
	return args[0], args[1:], nil
}

// run makes the object and sends it.
func (o *form) run(ctx context.Context, name string, words []string) error {
	if len(words) > 0 && o.begin == nil {
		return o.commandless()
	}
	object := tree.Map("apiVersion", o.apiVersion, "kind", o.kind, "metadata", tree.Map("name", tree.String(name)), "spec", tree.Map())
	if o.begin != nil {
		if err := o.begin(ctx, object, words); err != nil {
			return err
		}
	}
	if err := o.set.Fill(object); err != nil {
		return err
	}
	if err := o.finish(ctx, object); err != nil {
		return err
	}
	if err := o.checkFields(object); err != nil {
		return err
	}
	return o.sending.Send(ctx, object)
}

// finish adds to the filled object what flags say in other words, or leave out.
func (o *form) finish(ctx context.Context, object *tree.Node) error {
	if o.kind == kruise.KindContainerRecreateRequest {
		return o.containers(ctx, object)
	}
	if o.target == "" {
		return nil
	}
	ref, err := targetReference(o.target)
	if err == nil {
		tree.SetAt(object, ref, "spec", "targetRef")
	}
	return err
}

// commandless refuses words behind --.
func (o *form) commandless() error {
	article := "a"
	if strings.HasPrefix(o.kind, "I") {
		article = "an"
	}
	return command.Usagef("remove the arguments after --", "%s %s takes no command", article, o.kind)
}

// checkFields refuses fields that the kind does not have, which --set can ask for.
func (o *form) checkFields(object *tree.Node) error {
	unknown, err := tree.Decode(object, o.typed)
	switch {
	case err != nil:
		return command.Usagef("", "%w", err)
	case len(unknown) > 0 && !o.loose:
		return command.Usagef("'kubectl kruise schema json "+o.kind+"' lists all fields", "%s has no field %s", o.kind, strings.Join(unknown, ", "))
	}
	return nil
}

// instantiate is what kubectl marks a job with that a user started by hand.
const instantiate = "cronjob.kubernetes.io/instantiate"

// copies adds --from: the object is what a CronJob or AdvancedCronJob would create.
// template is the field of an AdvancedCronJob's template for this kind, other the flag
// that says the same by hand.
func (o *form) copies(c *cobra.Command, template, other string) {
	var from string
	c.Flags().StringVar(&from, "from", "", "object whose template to run now, such as acj/NAME")
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
		return nil, command.Usagef("for instance acj/report", "--from must be an existing cronjob or advancedcronjob, not %s", counted.Of(len(infos), "object"))
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
			Err:  fmt.Errorf("from must be a %s template, but got %s", templateWord(template), existingTemplate(source)),
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

// templateWord is what a template makes, as the older plugin says it.
func templateWord(template string) string {
	return strings.TrimSuffix(strings.ToLower(template), "template")
}

// existingTemplate is the template that an AdvancedCronJob does have.
func existingTemplate(source *tree.Node) string {
	kind := "none"
	tree.Each(tree.Get(source, "spec", "template"), func(k, _ *tree.Node) { kind = templateWord(k.Value) })
	return kind
}

// pathExamples are, for each kind, values of the fields that have no flag of their own: rules
// and parts of pods, which --set writes as YAML. Every other field has a flag; a test
// holds that against the kinds.
var pathExamples = map[string][]string{
	kruise.KindBroadcastJob: {"spec.template.spec.tolerations=[{operator: Exists}]"},
	"Job": {
		"spec.template.spec.tolerations=[{operator: Exists}]",
		"spec.podFailurePolicy={rules: [{action: FailJob, onExitCodes: {operator: In, values: [42]}}]}",
		"spec.successPolicy={rules: [{succeededCount: 1}]}",
		"spec.scheduling={schedulingPolicy: {basic: {}}}",
		"spec.manualSelector=true",
		"spec.selector={matchLabels: {job: report}}",
	},
	kruise.KindSidecarSet: {
		"spec.volumes=[{name: logs, emptyDir: {}}]",
		"spec.containers[0].env=[{name: MODE, value: fast}]",
		"spec.containers[0].transferEnv=[{sourceContainerName: app, envName: MODE}]",
		"spec.containers[0].resourcesPolicy={targetContainersMode: sum, resourcesExpr: {limits: {cpu: 50%*cpu}}}",
		"spec.initContainers=[{name: setup, image: registry.example.com/setup:1, podInjectPolicy: AfterAppContainer}]",
		"spec.updateStrategy.priorityStrategy={orderPriority: [{orderedKey: order}]}",
	},
}

// addPathExamples adds those of a kind to the help of its command.
func addPathExamples(c *cobra.Command, kind string) {
	if len(pathExamples[kind]) == 0 {
		return
	}
	if c.Long == "" {
		c.Long = c.Short + "."
	}
	c.Long += "\n\nFields without a flag of their own are set by path, for instance:\n"
	for _, value := range pathExamples[kind] {
		c.Long += "\n  --set '" + value + "'"
	}
	c.Long = strings.TrimSpace(c.Long)
}
