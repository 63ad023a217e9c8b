package change

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

const setLong = `Set a field of objects in the cluster or in files: workloads of Kruise and Kubernetes,
other objects with a pod template (CronJobs, AdvancedCronJobs, BroadcastJobs,
UnitedDeployments), and the containers of SidecarSets.`

// NewSet returns the verb with all that can be set.
func NewSet(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use: "set SUBCOMMAND", Short: "Set images, environment and other fields of objects", Long: setLong,
		Example: "  kubectl kruise set image cloneset/web app=registry.example.com/web:2 --explain",
		Args:    command.NoSuchCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newImage(f), newEnv(f), newResources(f), newSelector(f), newServiceAccount(f), newSubject(f))
	return c
}

// templatedTypes are the types with pod templates, for completion.
var templatedTypes = []string{
	"cloneset", "statefulset.apps.kruise.io", "daemonset.apps.kruise.io", "uniteddeployment", "sidecarset", "broadcastjob", "advancedcronjob",
	"deployment", "statefulset", "daemonset", "replicaset", "cronjob", "job", "pod",
}

// setting is a verb below set that changes pod templates.
type setting struct {
	edit

	explain bool
	gates   installation.GateFlags
	// again are the flags with which `rollout run` makes the same change.
	again string
}

func newSetting(f *factory.Factory, done string) *setting {
	return &setting{edit: edit{Factory: f, Done: done, Types: templatedTypes}}
}

// addFlags adds the flags of all that change pod templates.
func (s *setting) addFlags(c *cobra.Command) {
	s.AddFlags(c)
	c.Flags().BoolVar(&s.explain, "explain", false, "explain what the change does to running pods before it is written")
	s.gates.Add(c, "that of the cluster, else the newest")
}

func (s *setting) complete(c *cobra.Command, named []string) error {
	if err := s.gates.Complete(); err != nil {
		return err
	}
	s.Explainer = &rolloutExplainer{edit: &s.edit, wanted: s.explain, given: s.gates, again: cmp.Or(s.again, "-f FILE"), ctx: c.Context()}
	return s.Complete(c, named)
}

// offerContainers lets the shell complete the flag --containers by those of the
// objects that are named.
func (s *setting) offerContainers(c *cobra.Command) {
	// The error says that the flag does not exist, which it does.
	_ = c.RegisterFlagCompletionFunc("containers", func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return s.containersOf(args), cobra.ShellCompDirectiveNoFileComp
	})
}

// offerImages lets the shell complete CONTAINER= behind the objects that are named,
// beside further names.
func (s *setting) offerImages(c *cobra.Command) {
	names := c.ValidArgsFunction
	c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if strings.Contains(typed, "=") {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		for _, name := range s.containersOf(args) {
			if strings.HasPrefix(name, typed) {
				out = append(out, name+"=")
			}
		}
		if len(out) > 0 {
			return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		return names(c, args, typed)
	}
}

// containersOf are the containers of the objects that arguments name, none where that
// cannot be known yet.
func (s *setting) containersOf(args []string) []string {
	named, _, err := cmdutil.GetResourcesAndPairs(args, "image")
	if err != nil || len(named) == 0 || len(named) == 1 && !strings.Contains(named[0], "/") {
		return nil
	}
	var out []string
	// What cannot be read is not offered.
	_ = s.Look(named, func(u *unstructured.Unstructured) error {
		all, err := matching(u, "*")
		for _, c := range all {
			out = append(out, nameOf(c))
		}
		return err
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// containersIn are the containers of a pod spec, those of initialization behind the
// others.
func containersIn(spec map[string]any) []map[string]any {
	var out []map[string]any
	for _, field := range []string{"containers", "initContainers"} {
		list, _ := spec[field].([]any)
		for _, v := range list {
			if c, ok := v.(map[string]any); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

func nameOf(container map[string]any) string {
	name, _ := container["name"].(string)
	return name
}

// matching are the containers of an object whose name matches a pattern with * in it.
// That there is none is an error.
func matching(u *unstructured.Unstructured, pattern string) ([]map[string]any, error) {
	all, err := podSpecsOf(u)
	if err != nil {
		return nil, err
	}
	var out []map[string]any
	var names []string
	for _, spec := range all {
		for _, c := range containersIn(spec) {
			names = append(names, nameOf(c))
			if matches(pattern, nameOf(c)) {
				out = append(out, c)
			}
		}
	}
	if len(out) == 0 {
		return nil, &tree.Error{Msg: fmt.Sprintf("unable to find container named %q", pattern), Hint: "it has " + strings.Join(names, ", ")}
	}
	return out, nil
}

// matches reads a pattern as kubectl does: * matches any text.
func matches(pattern, name string) bool {
	// Names of containers have no slashes; a bad pattern matches nothing.
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// podSpecsOf are the pod specs below an object. Of a SidecarSet it is the object's own,
// which has the containers of one and nothing else of it.
func podSpecsOf(u *unstructured.Unstructured) ([]map[string]any, error) {
	group, kind := u.GroupVersionKind().Group, u.GetKind()
	if isSidecarSet(u) {
		return requireContainers(u, mapAt(u.Object, "spec"))
	}
	paths := stage.TemplatePaths(group, kind)
	if len(paths) == 0 {
		return nil, &tree.Error{Msg: "has no pod template", Hint: withoutContainers(u)}
	}
	var all []map[string]any
	for _, p := range paths {
		all = append(all, mapAt(u.Object, strings.TrimPrefix(p+".spec", ".")))
	}
	return requireContainers(u, all...)
}

func isSidecarSet(u *unstructured.Unstructured) bool {
	return u.GroupVersionKind().Group == kruise.Group && u.GetKind() == kruise.KindSidecarSet
}

func requireContainers(u *unstructured.Unstructured, all ...map[string]any) ([]map[string]any, error) {
	var out []map[string]any
	for _, spec := range all {
		if spec != nil {
			out = append(out, spec)
		}
	}
	if len(out) == 0 {
		return nil, &tree.Error{Path: "spec", Msg: "the " + u.GetKind() + " holds no pod template"}
	}
	return out, nil
}

// withoutContainers advises on an object that has no pod template.
func withoutContainers(u *unstructured.Unstructured) string {
	ref := mapAt(u.Object, "spec.workloadRef")
	if ref == nil {
		ref = mapAt(u.Object, "spec.objectRef.workloadRef")
	}
	kind, _ := ref["kind"].(string)
	name, _ := ref["name"].(string)
	if kind == "" || name == "" {
		return "name a workload, such as cloneset/web"
	}
	group, _ := ref["apiVersion"].(string)
	typed := strings.ToLower(kind)
	if group = path.Dir(group); group != "." {
		typed += "." + group
	}
	return "name its workload: " + typed + "/" + name
}

// mapAt is the map at a dotted path, nil where there is none.
func mapAt(o map[string]any, at string) map[string]any {
	for key := range strings.SplitSeq(at, ".") {
		o, _ = o[key].(map[string]any)
	}
	return o
}

// ensure is the map in a field, which is made where there is none.
func ensure(o map[string]any, field string) map[string]any {
	m, ok := o[field].(map[string]any)
	if !ok {
		m = map[string]any{}
		o[field] = m
	}
	return m
}
