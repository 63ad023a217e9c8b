package check

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

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
		if msg := dataKey(k.Value); msg != "" {
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
