package conformance

// A Deployment and a CloneSet without replicas: no controller makes anything of them.
const (
	deployment = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 0,
		"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "web:1"}]}}}}`
	cloneSet = `{"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "metadata": {"name": "web"}, "spec": {"replicas": 3,
		"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "web:1"}]}}}}`
	// pod is one that no node ever runs.
	pod = `{"metadata": {"name": "p", "labels": {"app": "web"}}, "spec": {"nodeSelector": {"no": "node"}, "automountServiceAccountToken": false,
		"containers": [{"name": "main", "image": "web:1"}]}}`
)

func configMap(metadata string) string {
	return `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {` + metadata + `}, "data": {"k": "v"}}`
}

func owned(metadata string) string {
	return configMap(metadata + `, "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "{owner.metadata.uid}", "blockOwnerDeletion": true}]`)
}

type fields = map[string]string

// cases are sequences of requests, by what they show.
var cases = map[string][]step{
	"a write of an old version is a conflict": {
		{do: "POST configmaps", body: configMap(`"name": "x"`), code: 201, as: "first", want: fields{"metadata.uid": "*", "metadata.resourceVersion": "*", "metadata.generation": "-"}},
		{do: "PUT configmaps/x", body: configMap(`"name": "x", "resourceVersion": "{first.metadata.resourceVersion}", "labels": {"a": "b"}`), code: 200, as: "second"},
		{do: "PUT configmaps/x", body: configMap(`"name": "x", "resourceVersion": "{first.metadata.resourceVersion}"`), code: 409, want: fields{"reason": "Conflict"}},
		{do: "PUT configmaps/x", body: configMap(`"name": "x"`), code: 200, want: fields{"metadata.labels": "-", "metadata.uid": "{first.metadata.uid}"}},
		{do: "PUT configmaps/x", body: configMap(`"name": "x", "uid": "other"`), code: 409, want: fields{"reason": "Conflict"}},
		{do: "PATCH configmaps/x", kind: merge, body: `{"metadata": {"resourceVersion": "{first.metadata.resourceVersion}"}, "data": {"k": "w"}}`, code: 409, want: fields{"reason": "Conflict"}},
		{do: "PATCH configmaps/x", kind: merge, body: `{"metadata": {"uid": "other"}, "data": {"k": "w"}}`, code: 422, want: fields{"reason": "Invalid"}},
		{do: "PATCH configmaps/x", kind: merge, body: `{"metadata": {"uid": "{first.metadata.uid}"}, "data": {"k": "w"}}`, code: 200, want: fields{"data.k": "w"}},
		{do: "PUT configmaps/y", body: configMap(`"name": "y"`), code: 404, want: fields{"reason": "NotFound"}},
		{do: "PUT configmaps/x", body: configMap(`"name": "y"`), code: 400, want: fields{"reason": "BadRequest"}},
	},
	"a lease is taken once": {
		{do: "POST leases", body: `{"metadata": {"name": "l"}, "spec": {"holderIdentity": "a"}}`, code: 201, as: "l"},
		{do: "PUT leases/l", body: `{"metadata": {"name": "l", "resourceVersion": "{l.metadata.resourceVersion}"}, "spec": {"holderIdentity": "b"}}`, code: 200},
		{do: "PUT leases/l", body: `{"metadata": {"name": "l", "resourceVersion": "{l.metadata.resourceVersion}"}, "spec": {"holderIdentity": "c"}}`, code: 409},
		{do: "GET leases/l", code: 200, want: fields{"spec.holderIdentity": "b"}},
	},
	"objects are made once": {
		{do: "POST configmaps", body: configMap(`"name": "x", "uid": "own", "generation": 7`), code: 201, as: "x"},
		{do: "GET configmaps/x", code: 200, want: fields{"metadata.uid": "{x.metadata.uid}", "kind": "ConfigMap", "apiVersion": "v1"}},
		{do: "POST configmaps", body: configMap(`"name": "x"`), code: 409, want: fields{"reason": "AlreadyExists"}},
		{do: "POST configmaps", body: configMap(`"generateName": "x-"`), code: 201, as: "made", want: fields{"metadata.name": "*"}},
		{do: "GET configmaps/{made.metadata.name}", code: 200, want: fields{"metadata.generateName": "x-"}},
		{do: "POST configmaps", body: configMap(`"labels": {}`), code: 422, want: fields{"reason": "Invalid"}},
		{do: "POST configmaps", body: configMap(`"name": "z", "namespace": "other"`), code: 400, want: fields{"reason": "BadRequest"}},
		{do: "POST /api/v1/namespaces/not-there/configmaps", body: configMap(`"name": "x"`), code: 404, want: fields{"reason": "NotFound", "details.kind": "namespaces"}},
		{do: "POST configmaps", body: `{`, code: 400, want: fields{"reason": "BadRequest"}},
		{do: "GET configmaps/y", code: 404, want: fields{"reason": "NotFound", "details.name": "y", "details.kind": "configmaps"}},
		{do: "GET /apis/apps/v1/namespaces/NAMESPACE/gadgets", code: 404, want: fields{"reason": "NotFound"}},
		{do: "GET configmaps/x/status", code: 404},
	},
	"generations count specs": {
		{do: "POST deployments", body: deployment, code: 201, want: fields{"metadata.generation": "1", "spec.strategy.type": "RollingUpdate", "spec.revisionHistoryLimit": "10"}},
		{do: "PATCH deployments/web", kind: merge, body: `{"metadata": {"labels": {"a": "b"}}}`, code: 200, want: fields{"metadata.generation": "1"}},
		{do: "PATCH deployments/web/status", kind: merge, body: `{"spec": {"replicas": 9}, "status": {"conditions": [{"type": "Own", "status": "True"}]}}`, code: 200, want: fields{"metadata.generation": "1", "spec.replicas": "0"}},
		{do: "PATCH deployments/web", kind: merge, body: `{"spec": {"minReadySeconds": 1}}`, code: 200, want: fields{"metadata.generation": "2"}},
	},
	"a status is written apart": {
		{do: "POST clonesets", body: `{"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "status": {"replicas": 5}, "metadata": {"name": "web"}, "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "web:1"}]}}}}`, code: 201, as: "web", want: fields{"metadata.generation": "1", "status": "-"}},
		{do: "PATCH clonesets/web", kind: merge, body: `{"status": {"replicas": 5}}`, code: 200, want: fields{"status": "-", "metadata.resourceVersion": "{web.metadata.resourceVersion}"}},
		{do: "PATCH clonesets/web/status", kind: merge, body: `{"spec": {"replicas": 5}, "status": {"observedGeneration": 1, "replicas": 4, "readyReplicas": 0, "availableReplicas": 0, "updatedReplicas": 0, "updatedReadyReplicas": 0, "expectedUpdatedReplicas": 0}}`, code: 200, as: "web", want: fields{"status.replicas": "4", "spec.replicas": "0", "metadata.generation": "1"}},
		{do: "PATCH clonesets/web", kind: merge, body: `{"metadata": {"annotations": {"a": "b"}}, "status": null}`, code: 200, want: fields{"status.replicas": "4", "metadata.generation": "1"}},
		{do: "PATCH clonesets/web", kind: merge, body: `{"metadata": {"annotations": {"a": null}}, "spec": {"minReadySeconds": 1}}`, code: 200, want: fields{"status.replicas": "4", "metadata.generation": "2", "metadata.annotations": "-"}},
		{do: "PUT clonesets/web", body: cloneSet, code: 422, want: fields{"reason": "Invalid"}},
		{do: "PUT clonesets/web/status", body: `{"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "metadata": {"name": "web", "resourceVersion": "{web.metadata.resourceVersion}"}}`, code: 409},
	},
	"a scale is part of a spec": {
		{do: "POST clonesets", body: cloneSet, code: 201},
		{do: "GET clonesets/web/scale", code: 200, as: "scale", want: fields{"kind": "Scale", "spec.replicas": "3", "metadata.name": "web"}},
		{do: "PATCH clonesets/web/scale", kind: merge, body: `{"spec": {"replicas": 4}}`, code: 200, want: fields{"spec.replicas": "4"}},
		{do: "PUT clonesets/web/scale", body: `{"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web", "namespace": "NAMESPACE", "resourceVersion": "{scale.metadata.resourceVersion}"}, "spec": {"replicas": 5}}`, code: 409},
		{do: "GET clonesets/web", code: 200, want: fields{"spec.replicas": "4", "metadata.generation": "2"}},
		{do: "POST daemonsets", body: `{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"app": "d"}}, "template": {"metadata": {"labels": {"app": "d"}}, "spec": {"nodeSelector": {"no": "node"}, "containers": [{"name": "main", "image": "d:1"}]}}}}`, code: 201},
		{do: "GET daemonsets/d/scale", code: 404},
	},
	"patches": {
		{do: "POST configmaps", body: configMap(`"name": "x", "labels": {"a": "b"}`), code: 201, as: "x"},
		{do: "PATCH configmaps/x", kind: jsonPatch, body: `[{"op": "test", "path": "/data/k", "value": "v"}, {"op": "replace", "path": "/data/k", "value": "w"}]`, code: 200, as: "x", want: fields{"data.k": "w"}},
		{do: "PATCH configmaps/x", kind: jsonPatch, body: `[{"op": "test", "path": "/data/k", "value": "v"}, {"op": "remove", "path": "/data/k"}]`, code: 422, want: fields{"reason": "Invalid"}},
		{do: "PATCH configmaps/x", kind: jsonPatch, body: `[{"op": "remove", "path": "/data/none"}]`, code: 422, want: fields{"reason": "Invalid"}},
		{do: "PATCH configmaps/x", kind: jsonPatch, body: `{"op": "remove"}`, code: 400},
		{do: "PATCH configmaps/x", kind: merge, body: `{"data": {"k": "w"}}`, code: 200, want: fields{"metadata.resourceVersion": "{x.metadata.resourceVersion}"}},
		{do: "PATCH configmaps/x", kind: merge, body: `{"metadata": {"labels": null}, "data": {"k": null, "l": "w"}}`, code: 200, want: fields{"data.k": "-", "data.l": "w", "metadata.labels": "-"}},
		{do: "PATCH configmaps/x", kind: merge, body: `{"metadata": {"annotations": {"a": "b"}, "unknown": 1}}`, code: 200, want: fields{"metadata.annotations.a": "b", "metadata.unknown": "-"}},
		{do: "PATCH configmaps/x", kind: merge, body: `{"metadata": {"annotations": {"a": null}}}`, code: 200, want: fields{"metadata.annotations": "-"}},
		{do: "PATCH configmaps/y", kind: merge, body: `{}`, code: 404},
		{do: "POST deployments", body: deployment, code: 201},
		{do: "PATCH deployments/web", kind: strategic, body: `{"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "side:1"}]}}}}`, code: 200, want: fields{"spec.template.spec.containers.length": "2"}},
		{do: "PATCH deployments/web", kind: merge, body: `{"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "side:1"}]}}}}`, code: 200, want: fields{"spec.template.spec.containers.length": "1"}},
		{do: "POST clonesets", body: cloneSet, code: 201},
		{do: "PATCH clonesets/web", kind: strategic, body: `{"spec": {"replicas": 2}}`, code: 415, want: fields{"reason": "UnsupportedMediaType"}},
	},
	"deletions have conditions": {
		{do: "POST configmaps", body: configMap(`"name": "x"`), code: 201, as: "x"},
		{do: "DELETE configmaps/x", body: `{"preconditions": {"uid": "other"}}`, code: 409, want: fields{"reason": "Conflict"}},
		{do: "DELETE configmaps/x", body: `{"preconditions": {"resourceVersion": "1"}}`, code: 409, want: fields{"reason": "Conflict"}},
		{do: "DELETE configmaps/x?dryRun=All", code: 200},
		{do: "DELETE configmaps/x", body: `{"preconditions": {"uid": "{x.metadata.uid}"}}`, code: 200, want: fields{"status": "Success", "details.uid": "{x.metadata.uid}"}},
		{do: "DELETE configmaps/x", code: 404, want: fields{"reason": "NotFound"}},
	},
	"finalizers hold": {
		{do: "POST configmaps", body: configMap(`"name": "x", "finalizers": ["lab.test/hold"]`), code: 201},
		{do: "DELETE configmaps/x", code: 200, want: fields{"kind": "ConfigMap", "metadata.deletionTimestamp": "*"}},
		{do: "GET configmaps/x", code: 200, want: fields{"metadata.deletionTimestamp": "*"}},
		{do: "DELETE configmaps/x", code: 200},
		{do: "PATCH configmaps/x", kind: merge, body: `{"metadata": {"deletionTimestamp": null}}`, code: 200, want: fields{"metadata.deletionTimestamp": "*"}},
		{do: "PATCH configmaps/x", kind: merge, body: `{"metadata": {"finalizers": null}}`, code: 200},
		{do: "GET configmaps/x", code: 404},
	},
	"a dry run stores nothing": {
		{do: "POST configmaps?dryRun=All", body: configMap(`"name": "x"`), code: 201, want: fields{"metadata.uid": "*"}},
		{do: "GET configmaps/x", code: 404},
		{do: "POST configmaps", body: configMap(`"name": "x"`), code: 201},
		{do: "PATCH configmaps/x?dryRun=All", kind: merge, body: `{"data": {"k": "w"}}`, code: 200, want: fields{"data.k": "w"}},
		{do: "PATCH configmaps/x?dryRun=All", kind: jsonPatch, body: `[{"op": "test", "path": "/data/k", "value": "w"}]`, code: 422},
		{do: "GET configmaps/x", code: 200, want: fields{"data.k": "v"}},
	},
	"lists are selected and paged": {
		{do: "POST configmaps", body: configMap(`"name": "a", "labels": {"suite": "x", "n": "1"}`), code: 201},
		{do: "POST configmaps", body: configMap(`"name": "b", "labels": {"suite": "x", "n": "2"}`), code: 201},
		{do: "POST configmaps", body: configMap(`"name": "c", "labels": {"suite": "x"}`), code: 201},
		{do: "GET configmaps?labelSelector=suite%3Dx", code: 200, want: fields{"kind": "ConfigMapList", "items.length": "3", "items.0.metadata.name": "a", "metadata.resourceVersion": "*"}},
		{do: "GET configmaps?labelSelector=n%20in%20(1,2),n!%3D1", code: 200, want: fields{"items.length": "1", "items.0.metadata.name": "b"}},
		{do: "GET configmaps?labelSelector=suite%3Dx,!n", code: 200, want: fields{"items.length": "1", "items.0.metadata.name": "c"}},
		{do: "GET configmaps?fieldSelector=metadata.name%3Db", code: 200, want: fields{"items.length": "1", "items.0.metadata.name": "b"}},
		{do: "GET /api/v1/configmaps?labelSelector=suite%3Dx&fieldSelector=metadata.namespace%3DNAMESPACE", code: 200, want: fields{"items.length": "3"}},
		{do: "GET configmaps?labelSelector=suite%3D%3D%3Dx", code: 400, want: fields{"reason": "BadRequest"}},
		{do: "GET configmaps?labelSelector=suite%3Dx&limit=2", code: 200, as: "page", want: fields{"items.length": "2", "metadata.continue": "*"}},
		{do: "GET configmaps?labelSelector=suite%3Dx&limit=2&continue={page.metadata.continue}", code: 200, want: fields{"items.length": "1", "items.0.metadata.name": "c", "metadata.continue": "-"}},
		{do: "DELETE configmaps?labelSelector=n", code: 200},
		{do: "GET configmaps?labelSelector=suite%3Dx", code: 200, want: fields{"items.length": "1"}},
	},
	"what is owned goes with its owner": {
		{do: "POST configmaps", body: configMap(`"name": "owner"`), code: 201, as: "owner"},
		{do: "POST configmaps", body: owned(`"name": "child"`), code: 201},
		{do: "DELETE configmaps/owner", code: 200},
		{do: "GET configmaps/child", code: 404, until: true},
	},
	"orphans stay": {
		{do: "POST configmaps", body: configMap(`"name": "owner"`), code: 201, as: "owner"},
		{do: "POST configmaps", body: owned(`"name": "child"`), code: 201},
		{do: "GET configmaps/child", code: 200, want: fields{"metadata.ownerReferences.length": "1"}},
		{do: "DELETE configmaps/owner", body: `{"propagationPolicy": "Orphan"}`, code: 200},
		{do: "GET configmaps/owner", code: 404, until: true},
		{do: "GET configmaps/child", code: 200, until: true, want: fields{"metadata.ownerReferences": "-"}},
	},
	"in the foreground an owner goes last": {
		{do: "POST configmaps", body: configMap(`"name": "owner"`), code: 201, as: "owner"},
		{do: "POST configmaps", body: owned(`"name": "child", "finalizers": ["lab.test/hold"]`), code: 201},
		{do: "DELETE configmaps/owner", body: `{"propagationPolicy": "Foreground"}`, code: 200, want: fields{"metadata.finalizers.0": "foregroundDeletion"}},
		{do: "GET configmaps/child", code: 200, until: true, want: fields{"metadata.deletionTimestamp": "*"}},
		{do: "GET configmaps/owner", code: 200, want: fields{"metadata.deletionTimestamp": "*"}},
		{do: "PATCH configmaps/child", kind: merge, body: `{"metadata": {"finalizers": null}}`, code: 200},
		{do: "GET configmaps/owner", code: 404, until: true},
	},
	"an orphan from the start goes": {
		{do: "POST configmaps", body: configMap(`"name": "owner"`), code: 201, as: "owner"},
		{do: "DELETE configmaps/owner", code: 200},
		{do: "POST configmaps", body: owned(`"name": "child"`), code: 201},
		{do: "GET configmaps/child", code: 404, until: true},
	},
	"fields are owned": {
		{do: "PATCH deployments/web?fieldManager=a", kind: apply, body: deployment, code: 201, as: "web", want: fields{"metadata.managedFields.0.manager": "a", "metadata.managedFields.0.operation": "Apply", "metadata.generation": "1"}},
		{do: "PATCH configmaps/x?fieldManager=a", kind: apply, body: configMap(`"name": "x"`), code: 201, as: "x"},
		{do: "PATCH configmaps/x?fieldManager=a", kind: apply, body: configMap(`"name": "x"`), code: 200, want: fields{"metadata.resourceVersion": "{x.metadata.resourceVersion}"}},
		{do: "PATCH configmaps/x?fieldManager=b", kind: apply, body: `{"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "w"}}`, code: 409, want: fields{"reason": "Conflict", "details.causes.0.reason": "FieldManagerConflict", "details.causes.0.field": ".data.k"}},
		{do: "PATCH configmaps/x?fieldManager=b&force=true", kind: apply, body: `{"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "w"}}`, code: 200, want: fields{"data.k": "w"}},
		{do: "PATCH configmaps/x?fieldManager=b", kind: apply, body: `{"apiVersion": "v1", "kind": "ConfigMap", "data": {}}`, code: 200, want: fields{"data": "-"}},
		{do: "PATCH configmaps/x", kind: apply, body: `{"apiVersion": "v1", "kind": "ConfigMap"}`, code: 422, want: fields{"reason": "Invalid"}},
		{do: "PATCH clonesets/web?fieldManager=a", kind: apply, body: cloneSet, code: 201},
		{do: "PATCH clonesets/web", kind: merge, body: `{"spec": {"replicas": 5}}`, code: 200, want: fields{"metadata.managedFields.1.manager": "suite", "metadata.managedFields.1.operation": "Update"}},
		{do: "PATCH clonesets/web?fieldManager=a", kind: apply, body: cloneSet, code: 409, want: fields{"details.causes.0.field": ".spec.replicas"}},
	},
	"pods are evicted within budgets": {
		{do: "POST pods", body: pod, code: 201, as: "p", want: fields{"status.phase": "Pending", "spec.restartPolicy": "Always", "spec.terminationGracePeriodSeconds": "30", "metadata.generation": "1"}},
		{do: "POST pods/p/eviction?dryRun=All", body: `{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}`, code: 201},
		{do: "GET pods/p", code: 200},
		{do: "POST pods/q/eviction", body: `{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "q"}}`, code: 404},
		{do: "POST pods/p/eviction", body: `{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}, "deleteOptions": {"preconditions": {"uid": "other"}}}`, code: 409},
		{do: "POST pods/p/eviction", body: `{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}`, code: 201, want: fields{"status": "Success"}},
		{do: "GET pods/p", code: 404},
		{do: "POST pods", body: pod, code: 201},
		{do: "POST poddisruptionbudgets", body: `{"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}}`, code: 201, want: fields{"metadata.generation": "1"}},
		{do: "PATCH pods/p/status", kind: strategic, body: `{"status": {"conditions": [{"type": "Ready", "status": "True"}], "phase": "Running"}}`, code: 200, want: fields{"metadata.generation": "1"}},
		{do: "POST pods/p/eviction", body: `{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}`, code: 429, want: fields{"reason": "TooManyRequests", "details.causes.0.reason": "DisruptionBudget"}},
	},
	"everything may be done": {
		{do: "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body: `{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}`, code: 201, want: fields{"status.allowed": "true"}},
	},
}
