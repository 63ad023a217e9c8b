package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

const resourceDistribution = kruise.KindResourceDistribution

// What becomes of the fields of a ResourceDistribution
// (docs/kruise/distribution.md#resourcedistribution,
// docs/kruise/distribution.md#what-native-kubernetes-can-express and
// docs/kruise/distribution.md#observed-on-a-cluster).
var resourceDistributionRules = []Rule{
	{
		ID: "resourcedistribution/resource", Kind: resourceDistribution, Severity: Exact,
		Fields:  []string{"spec.resource"},
		Becomes: "one copy per target namespace, sorted by namespace, with the labels, annotations and data of the template and Kruise's two annotations",
	},
	{
		ID: "resourcedistribution/string-data", Kind: resourceDistribution, Severity: Exact,
		Fields:  []string{"spec.resource.stringData"},
		Becomes: "stringData is written as data, and a missing type as Opaque, as the API server stores them",
	},
	{
		ID: "resourcedistribution/controller", Kind: resourceDistribution, Severity: Approximate,
		Becomes: "the copies have no controller: a copy that is edited or deleted is not restored until the next apply, and deleting the source deletes no copy",
		Action:  "apply regularly, or let a GitOps controller do it with pruning; copies carry the label kubectl-kruise.dev/source",
	},
	{
		ID: "resourcedistribution/all-namespaces", Kind: resourceDistribution, Severity: Approximate,
		Fields:  []string{"spec.targets.allNamespaces"},
		Becomes: "every namespace known while rendering gets a copy; one that is created later does not",
		Action:  "render again when namespaces come and go",
	},
	{
		ID: "resourcedistribution/selector", Kind: resourceDistribution, Severity: Approximate,
		Fields:  []string{"spec.targets.namespaceSelector"},
		Becomes: "the namespaces that match while rendering get a copy; one that is created or labelled later does not",
		Action:  "render again when namespaces or their labels change",
	},
	{
		ID: "resourcedistribution/included", Kind: resourceDistribution, Severity: Exact,
		Fields:  []string{"spec.targets.includedNamespaces"},
		Becomes: "the listed namespaces get a copy; with allNamespaces the list has no effect, as in Kruise",
	},
	{
		ID: "resourcedistribution/excluded", Kind: resourceDistribution, Severity: Exact,
		Fields:  []string{"spec.targets.excludedNamespaces"},
		Becomes: "excluded namespaces are removed last",
	},
}

// What depends on the namespaces and objects that are known.
var distributionTargetRules = []Rule{
	{
		ID: "resourcedistribution/system-namespace", Kind: resourceDistribution, Severity: Approximate,
		When:    "the release of Kruise is next",
		Becomes: "kube-system and kube-public never get a copy, as in Kruise after 1.9; up to 1.9 they do",
		Action:  "apply a copy of your own there if you need one",
	},
	{
		ID: "resourcedistribution/namespace-missing", Kind: resourceDistribution, Severity: Lost,
		Becomes: "a listed namespace does not exist or is being deleted: it gets no copy",
		Action:  "create the namespace, or add it to the input or to the file given with --with, and render again",
	},
	{
		ID: "resourcedistribution/namespace-unknown", Kind: resourceDistribution, Severity: Approximate,
		Becomes: "it is not known whether a listed namespace exists: it gets a copy, although Kruise creates none in a namespace that does not exist",
		Action:  "give the namespaces of the cluster with --with FILE or --live, or make sure that they exist before you apply the copies",
	},
	{
		ID: "resourcedistribution/namespaces-of-input", Kind: resourceDistribution, Severity: Approximate,
		Becomes: "only the namespaces in the input are known; other namespaces of the cluster get no copy",
		Action:  "give the namespaces of the cluster with --with FILE or --live",
	},
	{
		ID: "resourcedistribution/nowhere", Kind: resourceDistribution, Severity: Approximate,
		Becomes: "no namespace is a target now: there is no copy",
		Action:  "check spec.targets and the labels of the namespaces",
	},
	{
		ID: "resourcedistribution/conflict", Kind: resourceDistribution, Severity: Lost,
		Becomes: "another object has this kind and name: it is not changed, and the namespace gets no copy",
		Action:  "rename or remove one of the two, or exclude the namespace",
	},
	{
		ID: "resourcedistribution/stale-copy", Kind: resourceDistribution, Severity: Approximate,
		Becomes: "a copy exists in a namespace that is no longer a target; Kruise would delete it",
		Action:  "delete it, or apply with pruning",
	},
	{
		ID: "resourcedistribution/immutable", Kind: resourceDistribution, Severity: Lost,
		Becomes: "the copy in the cluster is immutable and differs: the API server will refuse the change, as it refuses Kruise's",
		Action:  "delete the old copy first, or give the resource a new name",
	},
	{
		ID: "resourcedistribution/secret-type", Kind: resourceDistribution, Severity: Lost,
		Becomes: "the Secret in the cluster has another type: the API server will refuse the change, as it refuses Kruise's",
		Action:  "delete the old copy first, or give the resource a new name",
	},
}
