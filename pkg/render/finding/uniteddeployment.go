package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// The subsets' kinds and schedules, as the catalogue names them.
const (
	ofDeployments = "deploymentTemplate"
	adaptively    = "scheduleStrategy.type Adaptive"
)

const subsets = "spec.topology.subsets"

// What becomes of the fields of a UnitedDeployment (docs/kruise/distribution.md#uniteddeployment
// and docs/kruise/distribution.md#what-native-kubernetes-can-express).
var _ = register(
	Rule{
		ID: "uniteddeployment/replicas", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{"spec.replicas"},
		Becomes: "shared out over the subsets with Kruise's arithmetic, once; there is no scale subresource over all subsets, and a workload that is scaled by hand stays so",
		Action:  "change spec.replicas and render again",
	},
	Rule{
		ID: "uniteddeployment/remainder", Kind: kruise.KindUnitedDeployment, When: "nothing is known of the workloads", Severity: Approximate,
		Fields:  []string{"spec.replicas", subsets + "[].replicas"},
		Becomes: "what does not divide evenly goes to the last subsets by name, as for a new object; Kruise leaves it where most pods are now",
		Action:  "give the present workloads (--with or --live), or replicas in the subsets",
	},
	Rule{
		ID: "uniteddeployment/selector", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{"spec.selector"},
		Becomes: "the selector of every workload, narrowed by the label apps.kruise.io/subset-name; Services and budgets select the same pods",
	},
	Rule{
		ID: "uniteddeployment/revision-history-limit", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{"spec.revisionHistoryLimit"},
		Becomes: "no revisions over all subsets are kept: each workload has its own, limited in its template",
		Action:  "set revisionHistoryLimit in the workload template, and roll back through version control",
	},
	Rule{
		ID: "uniteddeployment/revision-label", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{"spec.template"},
		Becomes: "the label apps.kruise.io/controller-revision-hash is not written: a change outside of the pod template no longer restarts every pod",
		Action:  "restart pods with kubectl rollout restart where that is wanted",
	},
	Rule{
		ID: "uniteddeployment/statefulset-template", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{"spec.template.statefulSetTemplate"},
		Becomes: "a StatefulSet for each subset, with imagePullPolicy Always where Kruise's webhook writes it; nothing deletes old pods that are not ready, as Kruise does to get past a broken revision",
		Action:  "delete such pods by hand when a rollout is stuck",
	},
	Rule{
		ID: "uniteddeployment/advanced-statefulset-template", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{"spec.template.advancedStatefulSetTemplate"},
		Becomes: "a Kruise StatefulSet for each subset; nothing deletes old pods that are not ready, as the UnitedDeployment does to get past a broken revision",
		Action:  "delete such pods by hand when a rollout is stuck",
	},
	Rule{
		ID: "uniteddeployment/cloneset-template", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{"spec.template.cloneSetTemplate"},
		Becomes: "a CloneSet for each subset, or what a CloneSet becomes",
	},
	Rule{
		ID: "uniteddeployment/deployment-template", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{"spec.template.deploymentTemplate"},
		Becomes: "a Deployment for each subset",
	},
	Rule{
		ID: "uniteddeployment/delete-protection", Kind: kruise.KindUnitedDeployment, Severity: Lost,
		Fields:  []string{"metadata.labels[policy.kruise.io/delete-protection]"},
		Becomes: "the label stays with no object: labels of the UnitedDeployment do not go to the workloads",
		Action:  "put the label into the metadata of the workload template, and guard it with a ValidatingAdmissionPolicy",
	},
)

// What becomes of the subsets.
var _ = register(
	Rule{
		ID: "uniteddeployment/subset", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{subsets + "[].name"},
		Becomes: "the workload NAME-SUBSET, where Kruise adds a random suffix; the label apps.kruise.io/subset-name is the same",
	},
	Rule{
		ID: "uniteddeployment/name-shortened", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{subsets + "[].name"},
		Becomes: "the name of the workload ends in a hash: NAME-SUBSET is too long for its pods to come into being, or holds dots that a StatefulSet's pods cannot have",
		Action:  "use a shorter name, or name in other objects what is rendered",
	},
	Rule{
		ID: "uniteddeployment/subset-removed", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{subsets},
		Becomes: "nothing deletes the workload of a subset that is not declared any more",
		Action:  "prune by the label kubectl-kruise.dev/source, or delete the workload",
	},
	Rule{
		ID: "uniteddeployment/subset-replicas", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{subsets + "[].replicas", subsets + "[].minReplicas", subsets + "[].maxReplicas"},
		Becomes: "the replicas of the workload, by Kruise's arithmetic",
	},
	Rule{
		ID: "uniteddeployment/node-selector-term", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{subsets + "[].nodeSelectorTerm"},
		Becomes: "appended to every required node affinity term of the pod template",
	},
	Rule{
		ID: "uniteddeployment/match-fields", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{subsets + "[].nodeSelectorTerm.matchFields"},
		Becomes: "nothing: Kruise ignores matchFields of a subset, and so does what is rendered",
		Action:  "use matchExpressions, or put the whole affinity into the subset's patch",
	},
	Rule{
		ID: "uniteddeployment/tolerations", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{subsets + "[].tolerations"},
		Becomes: "appended to the tolerations of the pod template",
	},
	Rule{
		ID: "uniteddeployment/patch", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{subsets + "[].patch"},
		Becomes: "merged into the pod template last, as a strategic merge patch; what it says is kept in the annotation apps.kruise.io/subset-patch",
	},
)
