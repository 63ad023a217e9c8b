package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// What differs between releases of Kruise.
var _ = register(
	Rule{
		ID: "sidecarset/dropped-by-release", Kind: kruise.KindSidecarSet, Severity: Exact,
		Fields:  []string{"spec.containers[].resourcesPolicy", "spec.containers[].shareVolumeDevicePolicy", "spec.initContainers[].restartPolicy"},
		When:    "the release of Kruise is older than the field",
		Becomes: "nothing: the schema of the release takes the field and its webhook drops it without a word, and so does the renderer",
		Action:  "remove it, or name a newer release with --kruise-version",
	},
	Rule{
		ID: "uniteddeployment/form-by-release", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{"spec.template.cloneSetTemplate"},
		When:    "it has the form of CloneSet v1alpha1, and the release of Kruise is not known",
		Becomes: "read in that form, as every release of Kruise up to 1.9 does; what comes after reads the form of v1beta1 alone",
		Action:  "name the release with --kruise-version",
	},
	Rule{
		ID: "object/lost-in-version", Kind: "*", Fields: []string{"spec"}, Severity: Lost,
		When:    "an object of Kruise is written in an older version, the only one that the release serves",
		Becomes: "a field that this version lacks is left out",
		Action:  "use a release of Kruise that serves the newer version, or expand the kind",
	},
)
