package render

import (
	"bufio"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
)

// splittable refuses --split-by where it could not do what it says.
func (o *options) splittable() error {
	if o.splitBy == "" {
		return nil
	}
	if err := command.OneOf("split-by", o.splitBy, choices()["split-by"]...); err != nil {
		return err
	}
	if o.outputDir == "" {
		return command.Usagef("give --output-dir DIR", "--split-by %s needs a directory", o.splitBy)
	}
	if o.target != string(engine.Kruise) || o.expands(kruise.KindUnitedDeployment) || o.expands(kruise.KindWorkloadSpread) {
		return nil
	}
	return command.Usagef("give --expand UnitedDeployment or --expand WorkloadSpread, too",
		"--split-by %s finds no subsets: --target kruise keeps every UnitedDeployment and WorkloadSpread whole", o.splitBy)
}

// expands reports whether --expand names the kind, in any case.
func (o *options) expands(kind string) bool {
	return slices.ContainsFunc(o.expand, func(k string) bool { return strings.EqualFold(k, kind) })
}

// reportFolders writes to stderr how many objects each folder of the output has.
func (o *options) reportFolders(folders []string) error {
	if o.quiet {
		return nil
	}
	count := map[string]int{}
	for _, folder := range folders {
		count[folder]++
	}
	w := bufio.NewWriter(o.factory.Streams.Err)
	if len(folders) > 0 && count[emit.SharedFolder] == len(folders) {
		_, _ = fmt.Fprintf(w, "note: no object belongs to a subset: all are in %s\n", filepath.Join(o.outputDir, emit.SharedFolder))
		return w.Flush()
	}
	for _, folder := range slices.Sorted(maps.Keys(count)) {
		objects := "objects"
		if count[folder] == 1 {
			objects = "object"
		}
		_, _ = fmt.Fprintf(w, "%s: %d %s\n", filepath.Join(o.outputDir, filepath.FromSlash(folder)), count[folder], objects)
	}
	return w.Flush()
}
