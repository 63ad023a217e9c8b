package emit

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// maxName leaves room for a hash, an ending and the addition to the name of a
// temporary file below the 255 bytes that file systems allow.
const maxName = 180

// fileNames returns one file name per resource,
// <namespace>_<kind>_<name><ending>, unique even where case does not count.
// A name does not depend on other resources unless two would be the same:
// then all of those have a hash of the whole ID, so their order is of no
// matter.
func fileNames(rs []*resource.Resource, ending string) []string {
	names := make([]string, len(rs))
	count := map[string]int{}
	for i, r := range rs {
		names[i] = fileName(r)
		count[names[i]]++
	}
	seen := map[string]int{}
	for i, r := range rs {
		if count[names[i]] > 1 {
			names[i] += "-" + hash(r)
		}
		seen[names[i]]++
		if n := seen[names[i]]; n > 1 {
			names[i] += "-" + strconv.Itoa(n)
		}
		names[i] += ending
	}
	return names
}

func fileName(r *resource.Resource) string {
	name := safe(strings.ToLower(r.Kind())) + "_"
	altered := false
	if ns := r.Namespace(); ns != "" {
		name, altered = safe(ns)+"_"+name, safe(ns) != ns
	}
	last := r.Name()
	if last == "" {
		last = "generated"
	}
	name += safe(last)
	altered = altered || safe(last) != last
	if len(name) > maxName {
		name, altered = name[:maxName], true
	}
	if altered {
		name += "-" + hash(r)
	}
	return name
}

// safe keeps what DNS names are made of. The underscore is not in it: it
// separates the parts.
func safe(part string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' {
			return c
		}
		return '-'
	}, part)
}

func hash(r *resource.Resource) string {
	id := r.ID()
	sum := sha256.Sum256([]byte(strings.Join([]string{id.Group, id.Kind, id.Namespace, id.Name}, "\x00")))
	return hex.EncodeToString(sum[:4])
}
