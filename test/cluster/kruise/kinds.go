package kruise

import (
	"reflect"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	product "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// kind is what a definition says beside its schemas.
type kind struct {
	group    string
	object   any // empty, of the product's type
	short    []string
	versions []string
	cluster  bool
	scale    bool
}

// name is the kind's name.
func (k kind) name() string { return reflect.TypeOf(k.object).Name() }

// plural is the name of the resource.
func (k kind) plural() string { return strings.ToLower(k.name()) + "s" }

// newest is the stored version, the one of the Go types.
func (k kind) newest() string { return k.versions[len(k.versions)-1] }

var (
	older = []string{product.V1alpha1}
	both  = []string{product.V1alpha1, product.V1beta1}
)

// kinds are all of Kruise's. Short names are those of its own definitions.
var kinds = []kind{
	{group: product.Group, object: product.AdvancedCronJob{}, short: []string{"acj"}, versions: both},
	{group: product.Group, object: product.BroadcastJob{}, short: []string{"bcj"}, versions: both},
	{group: product.Group, object: product.CloneSet{}, short: []string{"clone"}, versions: both, scale: true},
	{group: product.Group, object: product.ContainerRecreateRequest{}, short: []string{"crr"}, versions: both},
	{group: product.Group, object: product.DaemonSet{}, short: []string{"daemon", "ads"}, versions: both},
	{group: product.Group, object: product.EphemeralJob{}, short: []string{"ejob"}, versions: older},
	{group: product.Group, object: product.ImageListPullJob{}, versions: both},
	{group: product.Group, object: product.ImagePullJob{}, versions: both},
	{group: product.Group, object: product.NodeImage{}, versions: both, cluster: true},
	{group: product.Group, object: product.NodePodProbe{}, versions: older, cluster: true},
	{group: product.Group, object: product.PersistentPodState{}, versions: both},
	{group: product.Group, object: product.PodProbeMarker{}, versions: older},
	{group: product.Group, object: product.ResourceDistribution{}, short: []string{"distributor"}, versions: both, cluster: true},
	{group: product.Group, object: product.SidecarSet{}, versions: both, cluster: true},
	{group: product.Group, object: product.StatefulSet{}, short: []string{"sts", "asts"}, versions: both, scale: true},
	{group: product.Group, object: product.UnitedDeployment{}, short: []string{"ud"}, versions: both, scale: true},
	{group: product.Group, object: product.WorkloadSpread{}, short: []string{"ws"}, versions: both},
	{group: product.PolicyGroup, object: product.PodUnavailableBudget{}, short: []string{"pub"}, versions: both},
}

// definition is the kind's definition with the schemas, which are keyed by version.
func (k kind) definition(schemas map[string]*apiextensionsv1.JSONSchemaProps) *apiextensionsv1.CustomResourceDefinition {
	d := &apiextensionsv1.CustomResourceDefinition{}
	d.Name = k.plural() + "." + k.group
	d.Spec.Group = k.group
	d.Spec.Scope = apiextensionsv1.NamespaceScoped
	if k.cluster {
		d.Spec.Scope = apiextensionsv1.ClusterScoped
	}
	d.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
		Kind: k.name(), ListKind: k.name() + "List", Plural: k.plural(), Singular: strings.ToLower(k.name()), ShortNames: k.short,
	}
	for _, v := range k.versions {
		d.Spec.Versions = append(d.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: v, Served: true, Storage: v == k.newest(),
			Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schemas[v]},
			Subresources: k.subresources(),
		})
	}
	return d
}

func (k kind) subresources() *apiextensionsv1.CustomResourceSubresources {
	s := &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	if k.scale {
		s.Scale = &apiextensionsv1.CustomResourceSubresourceScale{
			SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas",
			LabelSelectorPath: new(".status.labelSelector"),
		}
	}
	return s
}
