package schema

import (
	_ "embed"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// sources holds what reflection does not see of Kruise's types: a test writes
// the file from package kruise.
//
//go:embed sources.json
var sources []byte

// written is what the sources say.
type written struct {
	// Comments are by TYPE and TYPE.Field.
	Comments map[string]string `json:"comments"`
	// Values are the constants of a type of text.
	Values map[string][]string `json:"values"`
}

var readSources = sync.OnceValue(func() (w written) {
	// A test would show that the file is broken.
	_ = json.Unmarshal(sources, &w)
	return w
})

// describe returns what is known about the fields of a type, by their keys; ""
// is the type itself.
func describe(t reflect.Type) map[string]string {
	if t.PkgPath() != kruisePackage {
		if d, ok := reflect.TypeAssert[interface{ SwaggerDoc() map[string]string }](reflect.Zero(t)); ok {
			return d.SwaggerDoc()
		}
		return nil
	}
	comments := readSources().Comments
	out := map[string]string{"": comments[t.Name()]}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if text := comments[t.Name()+"."+f.Name]; text != "" && name != "" {
			out[name] = text
		}
	}
	return out
}

// valuesOf are what a type of text may be, nil for anything.
func valuesOf(t reflect.Type) []string {
	if t.PkgPath() == kruisePackage {
		return slices.Clone(readSources().Values[t.Name()])
	}
	return slices.Clone(enums[t])
}
