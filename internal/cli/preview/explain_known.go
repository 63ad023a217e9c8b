package preview

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/openapi"
	explainv2 "k8s.io/kubectl/pkg/explain/v2"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	kruiseschema "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/schema"
)

// explainKnown documents a kind of Kruise, or a field of it, from what this program knows: for
// where no cluster answers, or the cluster has no Kruise. known is false for other types.
func explainKnown(f *factory.Factory, arg, apiVersion string, recursive bool, depth int) (known bool, err error) {
	word, rest, _ := strings.Cut(strings.ToLower(arg), ".")
	all := kruise.Kinds()
	i := slices.IndexFunc(all, func(k kruise.Registered) bool { return slices.Contains(k.Words(), word) })
	if i < 0 {
		return false, nil
	}
	k := all[i]
	version := k.Newest()
	if apiVersion != "" {
		group, v, _ := strings.Cut(apiVersion, "/")
		if group != k.Group {
			return false, nil
		}
		if version = v; !slices.Contains(k.Versions, version) {
			return true, command.Usagef("versions of "+k.Kind+": "+strings.Join(k.Versions, ", "), "%s has no version %s", k.Kind, version)
		}
	}
	doc, err := kruiseschema.Document(k, version)
	if err != nil {
		return true, err
	}
	var fields []string
	if rest != "" {
		fields = strings.Split(arg[len(word)+1:], ".")
	}
	gvr := schema.GroupVersionResource{Group: k.Group, Version: version, Resource: k.Resource()}
	_, _ = fmt.Fprintf(f.Streams.Err, "note: no cluster that has %s answers: these are the fields of Kruise's main branch\n", k.Resource()+"."+k.Group)
	var out bytes.Buffer
	if err := explainv2.PrintModelDescription(fields, &out, document(doc), gvr, recursive, depth, "plaintext"); err != nil {
		return true, errors.New(strings.TrimPrefix(err.Error(), "error: "))
	}
	_, err = out.WriteTo(f.Streams.Out)
	return true, err
}

// document is an OpenAPI document in place of an API server's.
type document []byte

// Paths has the one document for every group and version that is asked for.
func (d document) Paths() (map[string]openapi.GroupVersion, error) {
	out := map[string]openapi.GroupVersion{}
	for _, k := range kruise.Kinds() {
		for _, v := range k.Versions {
			out["apis/"+k.Group+"/"+v] = d
		}
	}
	return out, nil
}

// Schema is the document.
func (d document) Schema(contentType string) ([]byte, error) {
	if contentType != runtime.ContentTypeJSON {
		return nil, fmt.Errorf("no document of type %s", contentType)
	}
	return d, nil
}

// ServerRelativeURL is that of no server.
func (document) ServerRelativeURL() string { return "" }
