package change

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	envutil "k8s.io/kubectl/pkg/cmd/set/env"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const envLong = `Set, remove and list environment variables of containers. KEY=VALUE sets, KEY-
removes, - reads such lines from standard input; --from takes every key of a ConfigMap
or Secret as a reference to it, never its value.

--list prints the variables, with the requested changes, and writes nothing. Variables
of running pods cannot change, whatever the update policy: the pods are recreated, and
--explain says so before anything is written.`

const envExample = `  # set a variable, remove another
  kubectl kruise set env cloneset/web MODE=fast DEBUG-

  # what there is, references resolved
  kubectl kruise set env cloneset/web --list --resolve

  # every key of a ConfigMap, for one container
  kubectl kruise set env --from=configmap/settings --prefix=SHOP_ cloneset/web -c app

  # part of this shell's environment
  env | grep ^SHOP_ | kubectl kruise set env -e - cloneset/web`

type envSetting struct {
	*setting

	params     []string
	from       string
	keys       []string
	prefix     string
	containers string
	list       bool
	resolve    bool
	overwrite  bool

	set    []map[string]any
	remove []string
}

func newEnv(f *factory.Factory) *cobra.Command {
	o := &envSetting{setting: newSetting(f, "env updated")}
	c := &cobra.Command{
		Use: "env (-f FILENAME | TYPE NAME) KEY=VALUE… KEY-…", Short: "Set environment variables of containers", Long: envLong, Example: envExample,
		RunE: func(c *cobra.Command, args []string) error {
			named, pairs, ok := envutil.SplitEnvironmentFromResources(args)
			if !ok {
				return command.Usagef("for instance cloneset/web MODE=fast", "all resources must be specified before environment changes: %s", strings.Join(args, " "))
			}
			if err := o.complete(c, named); err != nil {
				return err
			}
			if err := o.read(append(slices.Clone(o.params), pairs...)); err != nil {
				return err
			}
			if o.list {
				return o.listVariables(c.Context(), named)
			}
			return o.Each(named, o.change)
		},
	}
	o.addFlags(c)
	fl := c.Flags()
	fl.StringVarP(&o.containers, "containers", "c", "*", "names of the containers to change; * matches any text")
	fl.StringArrayVarP(&o.params, "env", "e", nil, "KEY=VALUE to set, or - to read them from standard input")
	fl.StringVar(&o.from, "from", "", "configmap/NAME or secret/NAME whose keys become variables")
	fl.StringSliceVar(&o.keys, "keys", nil, "only these keys of --from")
	fl.StringVar(&o.prefix, "prefix", "", "prefix of the names of variables")
	fl.BoolVar(&o.list, "list", false, "print the variables, as they would be, and write nothing")
	fl.BoolVar(&o.resolve, "resolve", false, "with --list: print the values that references resolve to")
	fl.BoolVar(&o.overwrite, "overwrite", true, "change variables that already have a value; false makes that an error")
	o.offerContainers(c)
	return c
}

// read reads what to set and what to remove.
func (o *envSetting) read(params []string) error {
	switch {
	case o.list && o.Output() != "":
		return command.Usagef("", "--list and --output may not be specified together")
	case len(o.keys) > 0 && o.from == "":
		return command.Usagef("", "when specifying --keys, a configmap or secret must be provided with --from")
	case o.readsStdin() && slices.Contains(params, "-"):
		return command.OneStdin("-", "-")
	}
	vars, remove, _, err := envutil.ParseEnv(params, o.Factory.Streams.In)
	if err != nil {
		return command.Usagef("for instance MODE=fast", "%w", err)
	}
	for _, v := range vars {
		o.set = append(o.set, envVariable(v.Name, v.Value))
	}
	if err := o.takeFrom(); err != nil {
		return err
	}
	for _, v := range o.set {
		v["name"] = o.prefix + nameOf(v)
	}
	o.remove = remove
	if len(o.set) == 0 && len(o.remove) == 0 && !o.list {
		return command.Usagef("for instance MODE=fast, or --list", "at least one environment variable must be provided")
	}
	return nil
}

// envVariable is one with a value; none is written where it is empty, as the API server
// stores it.
func envVariable(name, value string) map[string]any {
	v := map[string]any{"name": name}
	if value != "" {
		v["value"] = value
	}
	return v
}

func (o *envSetting) change(u *unstructured.Unstructured) error {
	containers, err := matching(u, o.containers)
	if err != nil {
		return err
	}
	for _, c := range containers {
		if err := o.setVariables(c); err != nil {
			return err
		}
	}
	return nil
}

// setVariables sets and removes variables of a container: those that are there keep their
// place, others come last, in the order in which they were given.
func (o *envSetting) setVariables(container map[string]any) error {
	have, _ := container["env"].([]any)
	out := slices.DeleteFunc(slices.Clone(have), func(v any) bool { return slices.Contains(o.remove, envName(v)) })
	for _, v := range o.set {
		at := slices.IndexFunc(out, func(e any) bool { return envName(e) == nameOf(v) })
		if at < 0 {
			out = append(out, v)
			continue
		}
		old, _ := out[at].(map[string]any)
		if !o.overwrite && !sameVariable(old, v) {
			return &tree.Error{Msg: fmt.Sprintf("%s of container %s already has a value, and --overwrite is false", nameOf(v), nameOf(container))}
		}
		out[at] = v
	}
	if len(out) == 0 {
		delete(container, "env")
		return nil
	}
	container["env"] = out
	return nil
}

func envName(v any) string {
	m, _ := v.(map[string]any)
	return nameOf(m)
}

// sameVariable reports whether two variables have the same value, and no reference.
func sameVariable(a, b map[string]any) bool {
	return a["value"] == b["value"] && a["valueFrom"] == nil && b["valueFrom"] == nil
}

// refFields are the references to keys, by the kind that has them.
var refFields = map[string]string{"ConfigMap": "configMapKeyRef", "Secret": "secretKeyRef"}

// takeFrom adds a reference for each key of the object in --from.
func (o *envSetting) takeFrom() error {
	if o.from == "" {
		return nil
	}
	if o.Local() {
		return command.Usagef("leave --local out", "--local does not ask the cluster for %s", o.from)
	}
	return o.Beside(o.from, o.references)
}

func (o *envSetting) references(u *unstructured.Unstructured) error {
	field := refFields[u.GetKind()]
	if field == "" || u.GroupVersionKind().Group != "" {
		return &tree.Error{Msg: "unsupported resource specified in --from", Hint: "configmap/NAME or secret/NAME"}
	}
	data, _, err := unstructured.NestedMap(u.Object, "data")
	if err != nil {
		return err
	}
	for _, key := range o.keys {
		if _, ok := data[key]; !ok {
			return &tree.Error{Msg: fmt.Sprintf("has no key %q", key), Hint: "it has " + strings.Join(slices.Sorted(maps.Keys(data)), ", ")}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if len(o.keys) == 0 || slices.Contains(o.keys, key) {
			ref := map[string]any{"name": u.GetName(), "key": key}
			o.set = append(o.set, map[string]any{"name": o.envNameOf(key), "valueFrom": map[string]any{field: ref}})
		}
	}
	return nil
}

var notInEnv = regexp.MustCompile("[^a-zA-Z0-9_]")

// envNameOf is the name of the variable for a key, as kubectl makes it.
func (o *envSetting) envNameOf(key string) string {
	name := strings.ToUpper(notInEnv.ReplaceAllString(key, "_"))
	if name != key {
		_, _ = fmt.Fprintf(o.Factory.Streams.Err, "Warning: key %s transferred to %s\n", key, name)
	}
	return name
}

// envLister prints variables, and what references among them lead to where it has a
// client.
type envLister struct {
	*envSetting

	client kubernetes.Interface
	store  *envutil.ResourceStore
}

// listVariables prints the variables of the objects, as they would be.
func (o *envSetting) listVariables(ctx context.Context, named []string) error {
	l := &envLister{envSetting: o, store: envutil.NewResourceStore()}
	if o.resolve && !o.Local() {
		cfg, err := o.Factory.Config()
		if err != nil {
			return err
		}
		if l.client, err = kubernetes.NewForConfig(cfg); err != nil {
			return err
		}
	}
	return o.Look(named, func(u *unstructured.Unstructured) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return l.object(u)
	})
}

func (l *envLister) object(u *unstructured.Unstructured) error {
	if err := l.change(u); err != nil {
		return err
	}
	containers, err := matching(u, l.containers)
	if err != nil {
		return err
	}
	var errs resource.Errors
	for _, c := range containers {
		if _, err := fmt.Fprintf(l.Factory.Streams.Out, "# %s %s, container %s\n", u.GetKind(), u.GetName(), nameOf(c)); err != nil {
			return err
		}
		errs.Add(l.container(u, c))
	}
	return errs.Err()
}

// container prints one line for each variable.
func (l *envLister) container(u *unstructured.Unstructured, container map[string]any) error {
	var c corev1.Container
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(container, &c); err != nil {
		return fmt.Errorf("container %s: %w", nameOf(container), err)
	}
	failed := map[string]error{}
	for _, e := range c.Env {
		line, err := l.line(u, &c, e)
		if err != nil {
			failed[e.Name] = err
		}
		if _, err := fmt.Fprintln(l.Factory.Streams.Out, line); err != nil {
			return err
		}
	}
	var errs resource.Errors
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		errs.Add(fmt.Errorf("retrieving the reference for %s: %w", name, failed[name]))
	}
	return errs.Err()
}

// line is what is printed of a variable, and why a reference could not be followed.
func (l *envLister) line(u *unstructured.Unstructured, c *corev1.Container, e corev1.EnvVar) (string, error) {
	if e.ValueFrom == nil {
		return e.Name + "=" + e.Value, nil
	}
	reference := "# " + e.Name + " from " + envutil.GetEnvVarRefString(e.ValueFrom)
	if !l.resolve {
		return reference, nil
	}
	if l.client == nil && (e.ValueFrom.SecretKeyRef != nil || e.ValueFrom.ConfigMapKeyRef != nil) {
		return reference, errors.New("--local does not ask the cluster")
	}
	value, err := envutil.GetEnvVarRefValue(l.client, u.GetNamespace(), l.store, e.ValueFrom, u, c)
	if err != nil {
		return reference, err
	}
	return e.Name + "=" + value, nil
}
