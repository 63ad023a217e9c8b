package kruise

import (
	"reflect"
	"slices"
)

// Registered is one kind of Kruise.
type Registered struct {
	Group, Kind string
	// Versions are the oldest first; there are one or two.
	Versions []string
	// ClusterScoped kinds live in no namespace.
	ClusterScoped bool
	// Type is that of the object in the newest version.
	Type reflect.Type
}

// Newest is the version of the Go type.
func (r Registered) Newest() string { return r.Versions[len(r.Versions)-1] }

// inCluster are the kinds that live in no namespace (semantics
// sidecarset-and-protection 1, fanout-and-jobs 3, 7).
var inCluster = []string{"NodeImage", "NodePodProbe", "ResourceDistribution", "SidecarSet"}

// objects are all kinds, as empty objects of their type.
var objects = []any{
	AdvancedCronJob{},
	BroadcastJob{},
	CloneSet{},
	ContainerRecreateRequest{},
	DaemonSet{},
	EphemeralJob{},
	ImageListPullJob{},
	ImagePullJob{},
	NodeImage{},
	NodePodProbe{},
	PersistentPodState{},
	PodProbeMarker{},
	PodUnavailableBudget{},
	ResourceDistribution{},
	SidecarSet{},
	StatefulSet{},
	UnitedDeployment{},
	WorkloadSpread{},
}

// Kinds returns all kinds of Kruise, in alphabetical order.
func Kinds() []Registered {
	out := make([]Registered, len(objects))
	for i, o := range objects {
		t := reflect.TypeOf(o)
		k := kinds[Group+"/"+t.Name()]
		if k == nil {
			k = kinds[PolicyGroup+"/"+t.Name()]
		}
		out[i] = Registered{k.group, k.name, k.versions, slices.Contains(inCluster, k.name), t}
	}
	return out
}
