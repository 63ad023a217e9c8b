package render

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Helm validates values against the schemas of a chart, and fetches what these refer to:
// from a network, or from any file of the machine. So a chart is given to it only where
// all schemas refer to themselves.

// valuesSchemaName is the name by which Helm knows a schema.
const valuesSchemaName = "values.schema.json"

// maxNestedCharts is how deep charts may be packed into charts.
const maxNestedCharts = 8

// checkChartFile refuses a file of a chart that has Helm fetch something. left bounds what is
// unpacked.
func checkChartFile(name string, text []byte, nested int, left *int64) error {
	switch {
	case path.Base(filepath.ToSlash(name)) == valuesSchemaName:
		return checkValuesSchema(name, text)
	case bytes.HasPrefix(text, []byte{0x1f, 0x8b}): // Helm unpacks charts within charts
		return checkPackedChart(name, text, nested, left)
	}
	return nil
}

// checkPackedChart looks into a chart in a file. What is no such thing, Helm refuses or leaves alone.
func checkPackedChart(name string, text []byte, nested int, left *int64) error {
	if nested >= maxNestedCharts {
		return &resource.Error{File: name, Err: fmt.Errorf("charts are packed into charts more than %d times", maxNestedCharts)}
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil // Helm will say so
	}
	bounded := &io.LimitedReader{R: unzipped, N: *left}
	defer func() { *left = bounded.N }()
	for files := tar.NewReader(bounded); ; {
		head, err := files.Next()
		if err != nil {
			if bounded.N > 0 {
				return nil // the end, or what Helm cannot read either
			}
			return errTooMuch(name)
		}
		inside := strings.ReplaceAll(head.Name, `\`, "/") // as Helm takes it
		body, err := io.ReadAll(files)
		switch {
		case bounded.N <= 0:
			return errTooMuch(name)
		case err != nil:
			return nil // Helm will say so
		}
		*left = bounded.N
		if err := checkChartFile(name+": "+inside, body, nested+1, left); err != nil {
			return err
		}
		bounded.N = *left
	}
}

func errTooMuch(name string) error {
	return &resource.Error{File: name, Err: fmt.Errorf("unpacked, its charts are larger than %d MiB", mostUnpacked>>20)}
}

// knownDrafts are the schemas of schemas that Helm has.
var knownDrafts = regexp.MustCompile(`^https?://json-schema\.org/(draft-0[467]|draft/2019-09|draft/2020-12)/schema#?$`)

// checkValuesSchema refuses one that refers to something outside of itself.
func checkValuesSchema(name string, text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	var all any
	if dec.Decode(&all) != nil {
		return nil //nolint:nilerr // Helm will say so
	}
	if to := leadingNumber(all); to != "" {
		return &resource.Error{
			File: name, Err: fmt.Errorf("the schema refers to %q", to),
			Hint: "rendering opens no connection and reads no other file for it: write what it refers to into the schema, under $defs",
		}
	}
	return nil
}

// leadingNumber is the first reference of a schema that leads out of it.
func leadingNumber(n any) string {
	switch n := n.(type) {
	case []any:
		for _, item := range n {
			if to := leadingNumber(item); to != "" {
				return to
			}
		}
	case map[string]any:
		for key, value := range n {
			to, _ := value.(string)
			switch {
			case to == "":
				to = leadingNumber(value)
			case key == "$schema" && !knownDrafts.MatchString(to):
			case (key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef") && !strings.HasPrefix(to, "#"):
			default:
				to = ""
			}
			if to != "" {
				return to
			}
		}
	}
	return ""
}

// boundedBuffer takes so much of Helm's output, and ends Helm where there is more.
type boundedBuffer struct {
	kept bytes.Buffer // not embedded: it would be read into past the bound
	most int
	end  context.CancelFunc
	over bool
}

// errOutput is why Helm was ended.
var errOutput = errors.New("the chart becomes too large")

// Write fails when there is more.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	if len(p) > b.most-b.kept.Len() {
		b.over = true
		b.end()
		return 0, errOutput
	}
	return b.kept.Write(p)
}
