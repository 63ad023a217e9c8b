package check

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindResourceDistribution, object: kruise.ResourceDistribution{},
	open:  []string{"spec.resource"},
	check: resourceDistribution,
})

// distributionCheck gathers the faults of one ResourceDistribution.
type distributionCheck struct{ *subject }

// resourceDistribution has the webhook's rules
// (docs/kruise/distribution.md#resourcedistribution). Its dry-run creation of the resource is
// replaced by the API server's rules for ConfigMaps and Secrets; quotas and other admission cannot
// be foreseen.
func resourceDistribution(s *subject) {
	var rd kruise.ResourceDistribution
	if !s.read(&rd) {
		return
	}
	k := &distributionCheck{s}
	k.targets(rd.Spec.Targets)
	k.resource()
	k.sameResource()
}

// targets wants namespaces that are not both included and excluded.
func (k *distributionCheck) targets(t kruise.ResourceDistributionTargets) {
	if tree.Get(k.r.Node(), "spec", "targets") == nil {
		k.fault("spec.targets", "targets: {} is valid and distributes to no namespace", "required")
		return
	}
	k.namespaces("spec.targets.includedNamespaces.list", t.IncludedNamespaces.List)
	k.namespaces("spec.targets.excludedNamespaces.list", t.ExcludedNamespaces.List)
	excluded := map[string]bool{}
	for _, ns := range t.ExcludedNamespaces.List {
		excluded[ns.Name] = true
	}
	for i, ns := range t.IncludedNamespaces.List {
		if excluded[ns.Name] {
			k.fault(fmt.Sprintf("spec.targets.includedNamespaces.list[%d]", i), "remove it from one of the two",
				"namespace %s is in both includedNamespaces and excludedNamespaces", ns.Name)
		}
	}
	validSelector(k.subject, "spec.targets.namespaceSelector", &t.NamespaceSelector)
}

// namespaces wants names of namespaces.
func (k *distributionCheck) namespaces(path string, list []kruise.ResourceDistributionNamespace) {
	for i, ns := range list {
		if msgs := validation.IsDNS1123Label(ns.Name); len(msgs) > 0 {
			k.fault(fmt.Sprintf("%s[%d].name", path, i), "", "%q is not a namespace: %s", ns.Name, strings.Join(msgs, "; "))
		}
	}
}

// resource checks spec.resource: what it is, and that the API server
// would create it.
func (k *distributionCheck) resource() {
	const at = "spec.resource"
	n := tree.Get(k.r.Node(), "spec", "resource")
	if !tree.IsMap(n) {
		k.fault(at, "give the Secret or ConfigMap to distribute, as it would be applied", "required")
		return
	}
	version, kind := tree.StrAt(n, "apiVersion"), tree.StrAt(n, "kind")
	switch {
	case version != "v1" || kind != "Secret" && kind != "ConfigMap":
		k.fault(at, "write apiVersion: v1 and kind: Secret or ConfigMap", "only a Secret or ConfigMap can be distributed, not %s %s", version, kind)
		return
	case tree.StrAt(n, "metadata", "name") == "":
		k.fault(at+".metadata.name", "", "required")
		return
	}
	for _, err := range objectFaults(n) {
		k.addErrors(err, at)
	}
}

// sameResource refuses to rename what the ResourceDistribution in the cluster
// distributes.
func (k *distributionCheck) sameResource() {
	if k.Old == nil {
		return
	}
	for _, field := range [][]string{{"apiVersion"}, {"kind"}, {"metadata", "name"}} {
		path := append([]string{"spec", "resource"}, field...)
		if was, is := tree.StrAt(k.Old.Node(), path...), tree.StrAt(k.r.Node(), path...); was != is {
			k.immutableFault(strings.Join(path, "."), "distribute the new resource with a new ResourceDistribution",
				"the resource's apiVersion, kind and name are immutable: the cluster has %q", was)
		}
	}
}

// objectMeta checks the metadata of an object that is to be created.
func objectMeta(n *tree.Node) (faults []*tree.Error) {
	var meta metav1.ObjectMeta
	if _, err := tree.Decode(tree.Get(n, "metadata"), &meta); err != nil {
		return []*tree.Error{placed("metadata", err)}
	}
	meta.Namespace = metav1.NamespaceDefault
	for _, e := range sortedErrors(corevalidation.ValidateObjectMeta(&meta, true, apivalidation.NameIsDNSSubdomain, nil)) {
		faults = append(faults, tree.Errorf(n, "metadata."+e.Field, "", "%s", wordsOf(e)))
	}
	return faults
}

// placed moves the place of a decoding error below field.
func placed(field string, err error) *tree.Error {
	if te, ok := err.(*tree.Error); ok { //nolint:errorlint // tree.Decode returns it bare
		moved := *te
		moved.Path = strings.TrimSuffix(field+"."+te.Path, ".")
		return &moved
	}
	return &tree.Error{Path: field, Msg: err.Error()}
}

// maxData is how many bytes of values a ConfigMap or a Secret may hold.
const maxData = 1 << 20

// objectFaults checks a ConfigMap or Secret as the API server does on creation.
// Paths are relative to n; no message holds a value.
func objectFaults(n *tree.Node) []*tree.Error {
	o := object{n: n}
	o.faults = objectMeta(n)
	if f := tree.Get(n, "immutable"); f != nil && (!tree.IsScalar(f) || f.ShortTag() != "!!bool") {
		o.fault("immutable", "want true or false")
	}
	if tree.StrAt(n, "kind") == "Secret" {
		o.secret()
	} else {
		o.configMap()
	}
	return o.faults
}

type object struct {
	n      *tree.Node
	faults []*tree.Error
}

func (o *object) fault(path, msg string) {
	o.faults = append(o.faults, tree.Errorf(o.n, path, "", "%s", msg))
}

func (o *object) configMap() {
	data, binary := o.entries("data", false), o.entries("binaryData", true)
	for _, key := range slices.Sorted(maps.Keys(binary)) {
		if _, both := data[key]; both {
			o.fault("binaryData["+key+"]", "the key is in data too")
		}
	}
	o.size(data, binary)
}

// secret checks the entries as they will be stored: stringData wins over data.
func (o *object) secret() {
	if t := tree.Get(o.n, "type"); t != nil && !tree.IsString(t) {
		o.fault("type", "want text")
	}
	data := o.entries("data", true)
	maps.Copy(data, o.entries("stringData", false))
	o.size(data)
	o.secretType(data)
}

// entries returns the values of the mapping field, decoded from base64 where
// encoded, and reports what is no entry.
func (o *object) entries(field string, encoded bool) map[string][]byte {
	out := map[string][]byte{}
	n := tree.Get(o.n, field)
	if n != nil && !tree.IsMap(n) {
		o.fault(field, "want a mapping of keys to text")
	}
	tree.Each(n, func(k, v *tree.Node) {
		path := field + "[" + k.Value + "]"
		if msg := strings.Join(validation.IsConfigMapKey(k.Value), "; "); msg != "" {
			o.fault(path, msg)
		}
		value := []byte(tree.Str(v))
		_, text := tree.Value(v).(string)
		switch {
		case !tree.IsNull(v) && !text:
			o.fault(path, "want text: put the value in quotes")
		case encoded:
			var err error
			if value, err = base64.StdEncoding.DecodeString(tree.Str(v)); err != nil {
				o.fault(path, "want base64")
			}
		}
		out[k.Value] = value
	})
	return out
}

func (o *object) size(parts ...map[string][]byte) {
	total := 0
	for _, part := range parts {
		for _, value := range part {
			total += len(value)
		}
	}
	if total > maxData {
		o.fault("data", "the values are larger than 1 MiB together")
	}
}

// secretType checks what the API server wants of the types it knows.
func (o *object) secretType(data map[string][]byte) {
	need := func(key string) []byte {
		value, ok := data[key]
		if !ok {
			o.fault("data["+key+"]", "required for this type of Secret")
		}
		return value
	}
	switch tree.StrAt(o.n, "type") {
	case "kubernetes.io/service-account-token":
		if tree.StrAt(o.n, "metadata", "annotations", "kubernetes.io/service-account.name") == "" {
			o.fault("metadata.annotations[kubernetes.io/service-account.name]", "required for this type of Secret")
		}
	case "kubernetes.io/dockercfg":
		o.jsonObject(".dockercfg", need(".dockercfg"))
	case "kubernetes.io/dockerconfigjson":
		o.jsonObject(".dockerconfigjson", need(".dockerconfigjson"))
	case "kubernetes.io/basic-auth":
		if data["username"] == nil && data["password"] == nil {
			o.fault("data", "username or password is required for this type of Secret")
		}
	case "kubernetes.io/ssh-auth":
		if value := need("ssh-privatekey"); value != nil && len(value) == 0 {
			o.fault("data[ssh-privatekey]", "must not be empty")
		}
	case "kubernetes.io/tls":
		need("tls.crt")
		need("tls.key")
	}
}

// jsonObject wants the value of a registry credential to be a JSON object.
func (o *object) jsonObject(key string, value []byte) {
	var into map[string]any
	if value != nil && json.Unmarshal(value, &into) != nil {
		o.fault("data["+key+"]", "want a JSON object")
	}
}
