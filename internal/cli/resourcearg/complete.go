package resourcearg

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubectl/pkg/util/completion"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// CompleteFlags offers values for flags that say by their names what they take, where the command
// that args complete, and those above it, offer nothing of their own.
func CompleteFlags(root *cobra.Command, f *factory.Factory, args []string) {
	completion.SetFactoryForCompletion(kubectl.Factory(f))
	offers := flagCompletions(f)
	add := func(c *cobra.Command, flags *pflag.FlagSet) {
		flags.VisitAll(func(flag *pflag.Flag) {
			if offer := offers[flag.Name]; offer != nil && flag.Value.Type() != "bool" {
				// An error says that there is an offer, which stays.
				_ = c.RegisterFlagCompletionFunc(flag.Name, offer)
			}
		})
	}
	c, _, err := root.Find(args[:max(len(args)-1, 0)])
	if err != nil {
		c = root
	}
	add(root, root.PersistentFlags())
	for ; c != nil; c = c.Parent() {
		add(c, c.NonInheritedFlags())
	}
}

// flagCompletions are what flags of these names take, whatever command they stand on.
func flagCompletions(f *factory.Factory) map[string]cobra.CompletionFunc {
	containers, revisions, pods := completeContainers(f), completeRevisions(f), completeResources(f, "pods")
	namespaces, nodeLabels := completeResources(f, "namespaces"), completeNodeLabels(f)
	fixed := func(values ...string) cobra.CompletionFunc { return cobra.FixedCompletions(values, noFiles) }
	return map[string]cobra.CompletionFunc{
		"color": fixed("auto", "always", "never"), "output": completeFormats, "image": completeImages(f),
		"steps": fixed("1,100%", "1,50%,100%", "1,10%,50%,100%"), "to": fixed("10%", "50%", "100%"),
		"cascade": fixed("background", "orphan", "foreground"), "validate": fixed("strict", "warn", "ignore"),
		"image-pull-policy": fixed("Always", "IfNotPresent", "Never"), "protocol": fixed("TCP", "UDP", "SCTP"),
		"session-affinity": fixed("None", "ClientIP"), "override-type": fixed("json", "merge", "strategic"),
		"namespace": namespaces, "state-namespace": namespaces, "include": namespaces, "exclude": namespaces,
		"context": completion.ContextCompletionFunc, "cluster": completion.ClusterCompletionFunc, "user": completion.UserCompletionFunc,
		"container": containers, "containers": containers, "sidecar": containers, "target": containers,
		"pod": pods, "pods": pods,
		"to-revision": revisions, "revision": revisions,
		"node": completeResources(f, "nodes"), "node-selector": nodeLabels,
		"src-name": completeResources(f, "deployments"), "dst-name": completeResources(f, "clonesets.apps.kruise.io"),
		"from":            completeJobSources(f),
		"configmap":       completeResources(f, "configmaps"),
		"secret":          completeResources(f, "secrets"),
		"service-account": completeResources(f, "serviceaccounts"),
		"dry-run":         fixed("none", "client", "server"),
	}
}

// completeResources offers names of a type, behind those of a list that stand there.
func completeResources(f *factory.Factory, kind string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		return withPrefix(before, completion.CompGetResource(kubectl.Factory(f), kind, typed[len(before):])), cobra.ShellCompDirectiveNoFileComp
	}
}

func withPrefix(before string, names []string) []string {
	for i := range names {
		names[i] = before + names[i]
	}
	return names
}

// completeFormats offers what kubectl's commands print; they have a flag --template beside it. Of
// other commands, --output is a file.
func completeFormats(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	if c.Flags().Lookup("template") == nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	all := []string{"json", "yaml", "kyaml", "name", "go-template", "go-template-file", "template", "templatefile", "jsonpath", "jsonpath-as-json", "jsonpath-file"}
	return all, noFiles
}

const (
	noFiles        = cobra.ShellCompDirectiveNoFileComp
	noFilesNoSpace = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
)

// CompleteNames offers TYPE/NAME of workloads, and NAME behind a TYPE.
func CompleteNames(f *factory.Factory) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 && !strings.Contains(args[0], "/") {
			return namesOfType(f, args[0], typed), noFiles
		}
		kind, name, ok := strings.Cut(typed, "/")
		if ok {
			return withPrefix(kind+"/", namesOfType(f, kind, name)), noFiles
		}
		var out []string
		for _, t := range typeNames() {
			if strings.HasPrefix(t, typed) {
				out = append(out, t+"/")
			}
		}
		return out, noFilesNoSpace
	}
}

// CompleteNameFlag offers TYPE/NAME of workloads for a flag.
func CompleteNameFlag(f *factory.Factory) cobra.CompletionFunc {
	offer := CompleteNames(f)
	return func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return offer(c, nil, typed)
	}
}

// CompleteNamesAfterFirst offers Names for all arguments but the first.
func CompleteNamesAfterFirst(f *factory.Factory) cobra.CompletionFunc {
	offer := CompleteNames(f)
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, noFiles
		}
		return offer(c, args[1:], typed)
	}
}

// CompleteType offers TYPE/NAME and NAME of one type of a group.
func CompleteType(f *factory.Factory, word, group string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		plural := word + "s." + group
		if len(args) > 0 && !strings.Contains(args[0], "/") {
			return completion.CompGetResource(kubectl.Factory(f), plural, typed), noFiles
		}
		kind, name, ok := strings.Cut(typed, "/")
		if !ok {
			return []string{word + "/"}, noFilesNoSpace
		}
		return withPrefix(kind+"/", completion.CompGetResource(kubectl.Factory(f), plural, name)), noFiles
	}
}

// namesOfType are those of all kinds that a type can mean.
func namesOfType(f *factory.Factory, kind, typed string) []string {
	n, err := Parse(kind + "/x")
	if err != nil {
		return completion.CompGetResource(kubectl.Factory(f), kind, typed)
	}
	var out []string
	for _, k := range n.Kinds {
		out = append(out, completion.CompGetResource(kubectl.Factory(f), Plural(k)+"."+k.Group, typed)...)
	}
	return out
}

// completeJobSources offers what jobs are made from.
func completeJobSources(f *factory.Factory) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		switch kind, name, ok := strings.Cut(typed, "/"); {
		case !ok:
			return []string{"acj/", "cronjob/"}, noFilesNoSpace
		case kind == "cronjob":
			return withPrefix("cronjob/", completion.CompGetResource(kubectl.Factory(f), "cronjobs", name)), noFiles
		default:
			return withPrefix(kind+"/", completion.CompGetResource(kubectl.Factory(f), "advancedcronjobs.apps.kruise.io", name)), noFiles
		}
	}
}

// completeContainers offers the containers of what --pod or the first argument names.
func completeContainers(f *factory.Factory) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		u := namedObject(f, c, args)
		if u == nil {
			return nil, noFiles
		}
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		return withPrefix(before, containersIn(u.Object)), noFiles
	}
}

// completeImages offers the containers of the workload that a plan is made for, each with the sign
// behind which its new image follows.
func completeImages(f *factory.Factory) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if c.Flags().Lookup("pause-after") == nil || strings.Contains(typed, "=") {
			return nil, noFiles
		}
		u := namedObject(f, c, args)
		if u == nil {
			return nil, noFiles
		}
		var out []string
		for _, name := range containersIn(u.Object) {
			out = append(out, name+"=")
		}
		return out, noFilesNoSpace
	}
}

// namedObject is what --pod or the arguments name, nil where that cannot be read.
func namedObject(f *factory.Factory, c *cobra.Command, args []string) *unstructured.Unstructured {
	name := ""
	if pod := c.Flags().Lookup("pod"); pod != nil {
		name = pod.Value.String()
	} else if len(args) > 0 {
		name = args[0]
		if len(args) > 1 && !strings.Contains(name, "/") && !strings.Contains(args[1], "/") && c.Name() != "restart" {
			name += "/" + args[1] // TYPE NAME
		}
	}
	if name == "" {
		return nil
	}
	namespace, _, err := kubectl.Factory(f).ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil
	}
	finder := Finder{Factory: kubectl.Factory(f), Namespace: namespace}
	u, err := finder.Named(c.Context(), name)
	if err != nil {
		return nil // what cannot be read is not offered
	}
	return u
}

// containersIn are the names of all containers below a value, sorted, each once.
func containersIn(v any) []string {
	found := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, below := range v {
				if key == "containers" || key == "initContainers" || key == "ephemeralContainers" {
					addContainerNames(found, below)
				}
				walk(below)
			}
		case []any:
			for _, below := range v {
				walk(below)
			}
		}
	}
	walk(v)
	return slices.Sorted(maps.Keys(found))
}

func addContainerNames(found map[string]bool, list any) {
	items, _ := list.([]any)
	for _, item := range items {
		c, _ := item.(map[string]any)
		name, _ := c["name"].(string)
		if _, ok := c["image"]; ok && name != "" {
			found[name] = true
		}
	}
}

// completeRevisions offers the stored revisions of the workload that is named, the newest first.
func completeRevisions(f *factory.Factory) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		u := namedObject(f, c, args)
		if u == nil {
			return nil, noFiles
		}
		client, err := kubectl.Factory(f).DynamicClient()
		if err != nil {
			return nil, noFiles
		}
		kind := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "controllerrevisions"}
		if u.GetKind() == kruise.KindDeployment {
			kind.Resource = "replicasets"
		}
		list, err := client.Resource(kind).Namespace(u.GetNamespace()).List(c.Context(), metav1.ListOptions{})
		if err != nil {
			return nil, noFiles
		}
		return revisionNumbers(u, list.Items), noFiles | cobra.ShellCompDirectiveKeepOrder
	}
}

// revisionNumbers are those of the revisions that an object owns, with their names.
func revisionNumbers(owner *unstructured.Unstructured, list []unstructured.Unstructured) []string {
	names := map[int64]string{}
	for i := range list {
		r := &list[i]
		n, ok, _ := unstructured.NestedInt64(r.Object, "revision")
		if !ok {
			// What is not a number is not a revision.
			n, _ = strconv.ParseInt(r.GetAnnotations()[cluster.DeploymentRevisionAnnotation], 10, 64)
		}
		if metav1.IsControlledBy(r, owner) && n > 0 {
			names[n] = r.GetName()
		}
	}
	var out []string
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(names))) {
		out = append(out, strconv.FormatInt(n, 10)+"\t"+names[n])
	}
	return out
}

// completeNodeLabels offers KEY=VALUE of labels that nodes have.
func completeNodeLabels(f *factory.Factory) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		client, err := kubectl.Factory(f).KubernetesClientSet()
		if err != nil {
			return nil, noFiles
		}
		list, err := client.CoreV1().Nodes().List(c.Context(), metav1.ListOptions{})
		if err != nil {
			return nil, noFiles
		}
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		return withPrefix(before, labelsOfNodes(list.Items)), noFiles
	}
}

func labelsOfNodes(nodes []corev1.Node) []string {
	found := map[string]bool{}
	for i := range nodes {
		for k, v := range nodes[i].Labels {
			found[k+"="+v] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
