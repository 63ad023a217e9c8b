package load

// kruiseSchema tells kustomize's strategic merge where Kruise objects hold pod
// templates and containers. It only points at the definitions that kustomize
// brings along: lists in them merge by the keys of the Kubernetes API.
const kruiseSchema = `{"definitions": {
 "io.kruise.apps.Workload": {
  "type": "object",
  "properties": {"spec": {"$ref": "#/definitions/io.kruise.apps.WorkloadSpec"}},
  "x-kubernetes-group-version-kind": [
   {"group": "apps.kruise.io", "version": "v1alpha1", "kind": "CloneSet"},
   {"group": "apps.kruise.io", "version": "v1beta1", "kind": "CloneSet"},
   {"group": "apps.kruise.io", "version": "v1alpha1", "kind": "StatefulSet"},
   {"group": "apps.kruise.io", "version": "v1beta1", "kind": "StatefulSet"},
   {"group": "apps.kruise.io", "version": "v1alpha1", "kind": "DaemonSet"},
   {"group": "apps.kruise.io", "version": "v1beta1", "kind": "DaemonSet"},
   {"group": "apps.kruise.io", "version": "v1alpha1", "kind": "BroadcastJob"},
   {"group": "apps.kruise.io", "version": "v1beta1", "kind": "BroadcastJob"}
  ]
 },
 "io.kruise.apps.WorkloadSpec": {
  "type": "object",
  "properties": {"template": {"$ref": "#/definitions/io.kruise.apps.Template"}}
 },
 "io.kruise.apps.Template": {
  "type": "object",
  "properties": {
   "metadata": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
   "spec": {"$ref": "#/definitions/io.k8s.api.core.v1.PodSpec"}
  }
 },
 "io.kruise.apps.Wrapped": {
  "type": "object",
  "properties": {"spec": {"$ref": "#/definitions/io.kruise.apps.WorkloadSpec"}}
 },
 "io.kruise.apps.UnitedDeployment": {
  "type": "object",
  "properties": {"spec": {"type": "object", "properties": {"template": {"type": "object", "properties": {
   "statefulSetTemplate": {"$ref": "#/definitions/io.kruise.apps.Wrapped"},
   "advancedStatefulSetTemplate": {"$ref": "#/definitions/io.kruise.apps.Wrapped"},
   "cloneSetTemplate": {"$ref": "#/definitions/io.kruise.apps.Wrapped"},
   "deploymentTemplate": {"$ref": "#/definitions/io.kruise.apps.Wrapped"}
  }}}}},
  "x-kubernetes-group-version-kind": [
   {"group": "apps.kruise.io", "version": "v1alpha1", "kind": "UnitedDeployment"},
   {"group": "apps.kruise.io", "version": "v1beta1", "kind": "UnitedDeployment"}
  ]
 },
 "io.kruise.apps.AdvancedCronJob": {
  "type": "object",
  "properties": {"spec": {"type": "object", "properties": {"template": {"type": "object", "properties": {
   "jobTemplate": {"$ref": "#/definitions/io.kruise.apps.Wrapped"},
   "broadcastJobTemplate": {"$ref": "#/definitions/io.kruise.apps.Wrapped"}
  }}}}},
  "x-kubernetes-group-version-kind": [
   {"group": "apps.kruise.io", "version": "v1alpha1", "kind": "AdvancedCronJob"},
   {"group": "apps.kruise.io", "version": "v1beta1", "kind": "AdvancedCronJob"}
  ]
 },
 "io.kruise.apps.SidecarSet": {
  "type": "object",
  "properties": {"spec": {"$ref": "#/definitions/io.k8s.api.core.v1.PodSpec"}},
  "x-kubernetes-group-version-kind": [
   {"group": "apps.kruise.io", "version": "v1alpha1", "kind": "SidecarSet"},
   {"group": "apps.kruise.io", "version": "v1beta1", "kind": "SidecarSet"}
  ]
 }
}}`
