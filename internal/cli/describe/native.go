package describe

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"k8s.io/kubectl/pkg/describe"
)

// native is what kubectl's own part of a description writes, in columns.
func native(part func(w describe.PrefixWriter)) string {
	var out strings.Builder
	t := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
	part(describe.NewPrefixWriter(t))
	// A builder takes everything.
	_ = t.Flush()
	return out.String()
}

func text[N int | int64](n N) string { return fmt.Sprint(n) }
