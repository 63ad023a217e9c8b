// Package input has what verbs that read manifests share: the limits of untrusted manifests
// (--limit), the folder that a kustomization may read (--root), files of a Git revision, and
// a note about documents that are for this program and not for a cluster.
package input

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

const limitFlag = "limit"

// LimitFlag is the value of --limit. The zero value has all defaults.
type LimitFlag struct {
	given map[string]string
	load  load.Options
	stage stage.Limits
	// seconds are read by [Guard], before the command runs.
	seconds int
}

// names are the limits that can be given, each with where it goes.
func (f *LimitFlag) names() map[string]any {
	return map[string]any{
		"file-bytes":     &f.load.MaxFileBytes,
		"input-bytes":    &f.load.MaxInputBytes,
		"document-bytes": &f.load.MaxDocumentBytes,
		"values":         &f.load.MaxNodes,
		"depth":          &f.load.MaxDepth,
		"objects":        &f.load.MaxObjects,
		"subsets":        &f.stage.Subsets,
		"copies":         &f.stage.Copies,
		"copy-bytes":     &f.stage.CopyBytes,
		"containers":     &f.stage.Containers,
		"output-nodes":   &f.stage.OutputNodes,
		limitOutput:      &f.stage.OutputBytes,
		limitSeconds:     &f.seconds,
	}
}

// Add puts the flag onto a command.
func (f *LimitFlag) Add(c *cobra.Command) {
	c.Flags().StringToStringVar(&f.given, limitFlag, nil, "resource limits for untrusted manifests, such as subsets=2000,file-bytes=1Gi (list: docs/security.md)")
	var offers []string
	for _, name := range slices.Sorted(maps.Keys(f.names())) {
		offers = append(offers, name+"=")
	}
	command.Offer(c, limitFlag, offers...)
}

// Complete reads what was given; what is wrong is a usage error.
func (f *LimitFlag) Complete() error {
	names := f.names()
	for _, name := range slices.Sorted(maps.Keys(f.given)) {
		at, ok := names[name]
		if !ok {
			return command.Usagef("one of "+strings.Join(slices.Sorted(maps.Keys(names)), ", "), "--%s: there is no limit %q", limitFlag, name)
		}
		n, err := parseLimit(f.given[name])
		if err != nil {
			return command.Usagef("a whole number from 1 on, such as 2000 or 64Mi", "--%s %s: %v", limitFlag, name, err)
		}
		switch at := at.(type) {
		case *int64:
			*at = n
		case *int:
			*at = int(n)
		}
	}
	f.stage.Objects = f.load.MaxObjects
	return nil
}

func parseLimit(text string) (int64, error) {
	q, err := tree.Quantity(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	n, whole := q.AsInt64()
	if !whole || n < 1 || n > math.MaxInt {
		return 0, fmt.Errorf("%q is not a whole number from 1 on", text)
	}
	return n, nil
}

// Load sets the limits of reading.
func (f *LimitFlag) Load(opt load.Options) load.Options {
	opt.MaxFileBytes, opt.MaxDocumentBytes, opt.MaxInputBytes = f.load.MaxFileBytes, f.load.MaxDocumentBytes, f.load.MaxInputBytes
	opt.MaxNodes, opt.MaxDepth, opt.MaxObjects = f.load.MaxNodes, f.load.MaxDepth, f.load.MaxObjects
	return opt
}

// Stage are the limits of what is made.
func (f *LimitFlag) Stage() stage.Limits { return f.stage }
